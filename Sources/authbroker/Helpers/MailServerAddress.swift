import JSON

/// The host and the port of a mail server's address.
struct MailServerAddress: Equatable {
  /// The ports of the schemes (RFC 8314, 6409, 9051).
  private static let ports = ["smtps": 465, "smtp": 587, "imaps": 993, "imap": 143]

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
    let colon = server.lastIndex(of: ":").flatMap { server[$0...].contains("]") ? nil : $0 }
    let name = server[..<(colon ?? server.endIndex)]
    let isBracketed = name.hasPrefix("[") && name.hasSuffix("]")
    host = String(isBracketed ? name.dropFirst().dropLast() : name)
    guard !host.isEmpty, host.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
    guard let colon else {
      port = standard
      return
    }
    guard let port = Int(server[server.index(after: colon)...]), (1...65_535).contains(port) else { return nil }
    self.port = port
  }
}
