import TextCoding

/// The host and the port of a mail server's address.
struct MailServerAddress: Equatable {
  private static let schemes = ["smtps", "smtp", "imaps", "imap"]

  /// The host's name or address, without the brackets of IPv6.
  let host: String
  /// The port.
  let port: Int

  /// Takes an address apart; nil for what is none.
  init?(_ text: String) {
    guard let parts = AddressParts(text), Self.schemes.contains(parts.scheme), let server = parts.server,
      let port = parts.port
    else { return nil }
    host = server.host.hasPrefix("[") ? String(server.host.dropFirst().dropLast()) : server.host
    self.port = port
  }
}
