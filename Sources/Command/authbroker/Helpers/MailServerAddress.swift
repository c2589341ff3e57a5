import JSON
import TextCoding

/// The host and the port of a mail server's address.
struct MailServerAddress: Equatable {
  /// The ports of the schemes (RFC 8314, 6409, 9051).
  static let ports = ["smtps": 465, "smtp": 587, "imaps": 993, "imap": 143]

  /// The host's name or address, without the brackets of IPv6.
  let host: String
  /// The port.
  let port: Int

  /// Takes an address apart; nil for what is none.
  init?(_ text: String) {
    guard let mark = text.firstOccurrence(of: "://"), let standard = Self.ports[text[..<mark.lowerBound].lowercased()]
    else {
      return nil
    }
    let authority = text[mark.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let server = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    guard let address = ServerAddress(server) else { return nil }
    let isBracketed = address.host.hasPrefix("[")
    host = isBracketed ? String(address.host.dropFirst().dropLast()) : address.host
    port = address.port ?? standard
  }
}
