/// An address taken apart (RFC 3986, section 3), before its path is looked at: what every reader of one begins with.
package struct AddressParts {
  /// The scheme, in lower case.
  package let scheme: String
  /// The user information, up to the last `@`; nil where there is none.
  package let user: Substring?
  /// The server as it is written: a name or an address, and the port.
  package let host: Substring
  /// The server; nil for what is none, or could be read in two ways.
  package let server: ServerAddress?
  /// Path, query and fragment, with the sign that each begins with.
  package let rest: Substring

  /// Takes a text apart; nil where no `://` is in it.
  package init?(_ text: String) {
    let bytes = text.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
      return nil
    }
    scheme = text[..<colon].lowercased()
    let start = bytes.index(colon, offsetBy: 3)
    let end = bytes[start...].firstIndex { byte in "/?#".utf8.contains(byte) } ?? bytes.endIndex
    let authority = text[start..<end]
    rest = text[end...]
    if let mark = authority.utf8.lastIndex(of: UInt8(ascii: "@")) {
      user = authority[..<mark]
      host = authority[authority.utf8.index(after: mark)...]
    } else {
      user = nil
      host = authority
    }
    server = ServerAddress(host)
  }

  /// The port of the server: the one that is named, or the scheme's; nil where there is neither.
  package var port: Int? { server.flatMap { $0.port ?? Self.port(of: scheme) } }

  /// The port that a scheme has where none is named (RFC 9110, section 4.2; RFC 8314, section 3; RFC 6409; RFC 9051);
  /// nil for any other scheme.
  package static func port(of scheme: String) -> Int? { ports[scheme] }

  private static let ports = ["https": 443, "http": 80, "smtps": 465, "smtp": 587, "imaps": 993, "imap": 143]
}
