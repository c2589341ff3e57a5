/// The name of a field of an HTTP request (RFC 9110, section 5.1).
package enum FieldName {
  /// Longer than any that is in use.
  package static let longest = 64

  /// The fields that say where a request goes, how long it is and for whom the connection is (RFC 9110, sections 7.2, 7.6,
  /// 7.8, 8.6 and 10.1; RFC 9112, section 6), and those of a body and of an answer: no credential is in them.
  private static let framing: Set = [
    "host", "content-length", "transfer-encoding", "te", "trailer", "connection", "keep-alive", "upgrade", "expect",
    "http2-settings", "set-cookie", "set-cookie2", "www-authenticate", "date", "via", "forwarded", "max-forwards",
  ]
  private static let framingPrefixes = ["proxy-", "content-", "sec-", "access-control-"]

  /// Why a name cannot be that of the field with a secret, and what to write; nil where it can.
  package static func flaw(of name: String) -> (reason: String, advice: String)? {
    guard isToken(name) else {
      return (
        "must be the name of a header of at most \(longest) letters, digits and signs",
        #"write one such as "X-Api-Key", without a colon"#
      )
    }
    let lower = name.lowercased()
    guard !framing.contains(lower), !framingPrefixes.contains(where: { lower.hasPrefix($0) }) else {
      return (
        "names a header that is about the connection or the message, and carries no secret",
        #"write the header that the API documents, such as "X-Api-Key""#
      )
    }
    return nil
  }

  /// Whether a text is a token (RFC 9110, section 5.6.2) of a usual length.
  package static func isToken(_ text: String) -> Bool {
    (1...longest).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"):
          true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }
}
