import SecretMemory

/// Unicode's Normalization Form C (Unicode Standard Annex 15), in which passwords are measured, hashed and compared
/// (SP 800-63B-4, section 3.1.1.2).
///
/// Two keyboards may spell the same letter in different bytes. So new passwords and those of a login both go through here.
enum NormalizedPassword {
  private enum Form { case malformed, composed, other }

  /// The password in Normalization Form C.
  ///
  /// Nearly everything that is typed is normalised already, and is returned without a copy. Anything else passes through a
  /// string, which cannot be wiped.
  ///
  /// - Returns: nil for bytes that are not UTF-8.
  /// - Throws: `SecretMemoryExhausted`.
  static func make(_ typed: Secret) throws(SecretMemoryExhausted) -> Secret? {
    switch typed.withBytes(form) {
    case .malformed: return nil
    case .composed: return typed
    case .other:
      var bytes = typed.withBytes(composed)
      return try Secret(wiping: &bytes)
    }
  }

  private static func form(_ bytes: Span<UInt8>) -> Form {
    do {
      var text = try UTF8Span(validating: bytes)
      return text.checkForNFC(quickCheck: false) ? .composed : .other
    } catch { return .malformed }
  }

  private static func composed(_ bytes: Span<UInt8>) -> [UInt8] {
    guard let text = try? String(copying: UTF8Span(validating: bytes)) else { return [] }
    var composed: [UInt8] = []
    // No text becomes longer than three times its bytes (Unicode's FAQ on normalization): the buffer never moves.
    composed.reserveCapacity(3 * bytes.count)
    for scalar in text.composedScalars { composed.append(contentsOf: scalar.utf8) }
    return composed
  }
}
