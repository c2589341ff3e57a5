import BrokerProtocol
import SecretMemory
import TextCoding

/// The value of the header `Authorization` that carries a token to a target.
enum AuthorizationValue {
  /// The user name with basic authentication where neither the target nor the tool has one: servers that take a token
  /// as a password do not look at it.
  static let standardUsername = "oauth2"

  /// The scheme, a blank and the credential (RFC 6750, section 2.1, or RFC 7617, section 2).
  ///
  /// - Returns: bytes that the caller wipes.
  static func bytes(_ token: Secret, for target: Target) -> [UInt8] {
    switch target.scheme ?? .bearer {
    case .bearer: SecretText.bytes("Bearer ", token)
    case .basic: basic(token, target.username ?? standardUsername)
    }
  }

  private static func basic(_ token: Secret, _ username: String) -> [UInt8] {
    var pair = SecretText.bytes(username + ":", token)
    defer { wipe(&pair) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity("Basic ".utf8.count + Base64.characterCount(of: pair.count, as: .padded) + 1)
    bytes.append(contentsOf: "Basic ".utf8)
    Base64.append(pair.span, as: .padded, to: &bytes)
    return bytes
  }
}
