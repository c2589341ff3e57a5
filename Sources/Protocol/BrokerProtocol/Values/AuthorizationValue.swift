import JSON
package import SecretMemory
import TextCoding

/// The value of the header `Authorization` that carries a token to a target.
package enum AuthorizationValue {
  /// The user name with basic authentication where neither the target nor the tool has one: servers that take a token
  /// as a password do not look at it.
  package static let standardUsername = "oauth2"

  /// The field of a request that carries a token where nothing else is configured (RFC 9110, section 11.6.2).
  package static let standardField = "Authorization"

  /// The scheme, a blank and the credential (RFC 6750, section 2.1, or RFC 7617, section 2).
  ///
  /// - Returns: bytes that the caller wipes.
  package static func bytes(_ token: Secret, for target: Target) -> [UInt8] {
    bytes(token, target.scheme, username: target.username)
  }

  /// The same for a target whose scheme and user name are known; `prefix` is what stands before a token that is no
  /// password.
  ///
  /// - Returns: bytes that the caller wipes.
  package static func bytes(
    _ token: Secret, _ scheme: Target.Scheme?, username: String?, prefix: String = "Bearer "
  ) -> [UInt8] {
    switch scheme ?? .bearer {
    case .bearer: joined(prefix, token)
    case .basic: basic(token, username ?? standardUsername)
    }
  }

  /// The field of a request to a target that carries a token, and the value of it: bytes that the caller wipes.
  ///
  /// A target with basic authentication takes every token as a password; any other field than `Authorization` has the
  /// token alone.
  package static func field(with token: AccessToken, for target: Target) -> (name: String, value: [UInt8]) {
    let isBasic = target.scheme == .basic
    let prefix = prefix(header: token.header, type: token.tokenType)
    return (
      isBasic ? standardField : token.header ?? standardField,
      bytes(token.accessToken, target.scheme, username: target.username, prefix: prefix)
    )
  }

  /// Everything in the value of a field before a token that is no password.
  ///
  /// - Parameters:
  ///   - header: the configured field; nil for a token that a server has issued, which is sent as a bearer token.
  ///   - type: the token's type.
  /// - Returns: the scheme and a blank; empty where the token stands alone.
  package static func prefix(header: String?, type: String?) -> String {
    guard let header else { return "Bearer " }
    guard header.lowercased() == standardField.lowercased() else { return "" }
    let type = type ?? "Bearer"
    return type.isEmpty ? "" : type + " "
  }

  private static func basic(_ token: Secret, _ username: String) -> [UInt8] {
    var pair = joined(username + ":", token)
    defer { wipe(&pair) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity("Basic ".utf8.count + Base64.characterCount(of: pair.count, as: .padded) + 1)
    bytes.append(contentsOf: "Basic ".utf8)
    Base64.append(pair.span, as: .padded, to: &bytes)
    return bytes
  }

  /// A secret behind a prefix, in a buffer that never moves, with room for the end of a line.
  private static func joined(_ prefix: String, _ token: Secret) -> [UInt8] {
    token.withBytes { token in
      var bytes: [UInt8] = []
      bytes.reserveCapacity(prefix.utf8.count + token.count + 1)
      bytes.append(contentsOf: prefix.utf8)
      bytes.append(copying: token)
      return bytes
    }
  }
}
