/// The public keys that a server may have: SHA-256 of its SubjectPublicKeyInfo (RFC 7469, section 2.4).
///
/// At least two, the key in use and a spare one kept elsewhere: with a single pin, the loss of that key locks every
/// user out until all configurations are changed.
package struct PinSet: Sendable, Equatable {
  /// Why pins are no set of pins.
  package enum Refusal: Error, Sendable, Equatable {
    /// Fewer than two different pins: a spare one is missing.
    case spareMissing
    /// More than ``PinSet/most``.
    case tooMany
    /// Not `sha256//` and the base64 form (RFC 4648, section 4, padded) of 32 bytes.
    case malformed(index: Int)
  }

  /// The most pins of one server: keys of two years, a spare one and those of an authority fit many times.
  package static let most = 16
  private static let mark = "sha256//"

  /// As libcurl wants them: joined by `;`.
  let joined: String

  /// Checks pins.
  ///
  /// - Parameter pins: each as `openssl dgst -sha256 -binary | base64` prints it, after `sha256//`.
  /// - Throws: `Refusal`.
  package init(_ pins: [String]) throws(Refusal) {
    for (index, pin) in pins.enumerated() {
      guard pin.hasPrefix(Self.mark), Self.isDigest(pin.utf8.dropFirst(Self.mark.utf8.count)) else {
        throw .malformed(index: index)
      }
    }
    guard pins.count <= Self.most else { throw .tooMany }
    guard Set(pins).count >= 2 else { throw .spareMissing }
    joined = pins.joined(separator: ";")
  }

  // 43 digits and one sign of padding; the last digit has four bits of the digest, so its two low bits are 0.
  private static func isDigest(_ text: Substring.UTF8View) -> Bool {
    let last = "AEIMQUYcgkosw048".utf8
    guard text.count == 44, text.last == UInt8(ascii: "="), let digit = text.dropLast().last else { return false }
    return last.contains(digit)
      && text.dropLast().allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "+"), UInt8(ascii: "/"): true
        default: false
        }
      }
  }
}
