/// An e-mail address as SMTP and a mail's header both take it, without quotes (RFC 5321, section 4.1.2: `Dot-string "@"
/// Domain`; letters beyond ASCII as in RFC 6531).
///
/// Nothing in it ends a command or a line of a header, or begins another address. The rarer quoted form, which may hold
/// all of that, is refused.
package struct MailAddress: Sendable, Hashable {
  /// A path of 256 octets at most (RFC 5321, section 4.5.3.1.3), without its angle brackets.
  private static let longest = 254
  // What must be quoted in a local part (RFC 5322, section 3.2.3).
  private static let special = Array("()<>[]:;@\\,\"".utf8)

  /// The whole address.
  package let text: String

  /// Checks an address; nil for what is none.
  package init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    guard text.utf8.count <= Self.longest, parts.count == 2 else { return nil }
    for part in parts {
      let words = part.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      guard words.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isPlain) }) else { return nil }
    }
    self.text = text
  }

  /// The part behind the `@`.
  package var domain: Substring { text.drop { $0 != "@" }.dropFirst() }

  private static func isPlain(_ byte: UInt8) -> Bool { byte > 0x20 && byte != 0x7F && !special.contains(byte) }
}
