import ProviderKit

/// The e-mail address that names an account, in the one form in which addresses are compared.
struct EmailAddress: Hashable {
  /// RFC 5321, section 4.5.3.1.3: a path of 256 octets, without its angle brackets.
  static let largestByteCount = 254

  /// White space around it removed, in Normalization Form C (RFC 6532, section 3.1), ASCII letters small; other letters
  /// are left alone.
  let text: String

  /// Reads an address; nil for a string that cannot be one.
  ///
  /// It must have something before and after its last `@`, and no white space. Every character is seen as it is: none
  /// is a control or a format character, hidden or not assigned. Whether it receives mail, only mail can tell.
  init?(_ input: String) {
    let trimmed = Self.trimmed(input)
    guard SanitizedText(trimmed).isUnchanged, trimmed.unicodeScalars.allSatisfy(Self.isVisible) else { return nil }
    let text = Self.comparable(trimmed)
    let bytes = text.utf8
    guard bytes.count <= Self.largestByteCount, let at = bytes.lastIndex(of: UInt8(ascii: "@")),
      at > bytes.startIndex, bytes.index(after: at) < bytes.endIndex
    else { return nil }
    self.text = text
  }

  private static func trimmed(_ input: String) -> String {
    let scalars = input.unicodeScalars
    guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
      let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
    else { return "" }
    return String(scalars[first...last])
  }

  /// Whether a character takes room of its own: fillers and variation selectors make two addresses look like one.
  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    !scalar.properties.isWhitespace && !scalar.properties.isDefaultIgnorableCodePoint
  }

  /// Composed before and after letters become small: the Kelvin sign is a K, and a small h takes a line below.
  private static func comparable(_ text: String) -> String {
    let small = text.composedScalars.map { ("A"..."Z").contains($0) ? Unicode.Scalar(UInt8($0.value | 0x20)) : $0 }
    var scalars = String.UnicodeScalarView()
    scalars.append(contentsOf: small)
    return String(scalars).composed
  }
}
