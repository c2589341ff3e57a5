import SecretMemory

/// The first message of a mail client that logs in with an access token, before it is encoded in Base64.
enum SASLResponse {
  /// Separates the parts of a message.
  private static let separator = "\u{1}"

  /// `XOAUTH2`, as Google and Microsoft document it.
  ///
  /// - Parameters:
  ///   - user: the account, usually an e-mail address.
  ///   - token: the access token.
  /// - Returns: bytes that the caller wipes; nil for a name that would be read as another part of the message.
  static func xoauth2(_ user: String, _ token: Secret) -> [UInt8]? {
    guard isPlain(user) else { return nil }
    return message("user=\(user)\(separator)auth=Bearer ", token)
  }

  /// `OAUTHBEARER` (RFC 7628, section 3.1) with the header of RFC 5801, section 4.
  ///
  /// - Parameters:
  ///   - user: the account.
  ///   - server: the host and the port that the client connects to; nil: they are left out.
  ///   - token: the access token.
  /// - Returns: bytes that the caller wipes; nil for a name that would be read as another part of the message.
  static func oauthbearer(_ user: String, server: (host: String, port: Int)?, _ token: Secret) -> [UInt8]? {
    guard isPlain(user) else { return nil }
    let name = user.flatMap { character -> String in
      switch character {
      case ",": "=2C"
      case "=": "=3D"
      default: String(character)
      }
    }
    let address = server.map { "host=\($0.host)\(separator)port=\($0.port)\(separator)" } ?? ""
    return message("n,a=\(String(name)),\(separator)\(address)auth=Bearer ", token)
  }

  private static func message(_ lead: String, _ token: Secret) -> [UInt8] {
    var message = SecretText.bytes(lead, token, room: 2)
    message.append(contentsOf: [1, 1])
    return message
  }

  private static func isPlain(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }
}
