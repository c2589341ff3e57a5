import JSON
package import SecretMemory
import TextCoding

/// The value of the header `Authorization` that carries a token to a target.
package enum AuthorizationValue {
  /// The user name with basic authentication where neither the target nor the tool has one: servers that take a token
  /// as a password do not look at it.
  package static let standardUsername = "oauth2"

  /// The scheme, a blank and the credential (RFC 6750, section 2.1, or RFC 7617, section 2).
  ///
  /// - Returns: bytes that the caller wipes.
  package static func bytes(_ token: Secret, for target: Target) -> [UInt8] {
    bytes(token, target.scheme, username: target.username)
  }

  /// The same for a target whose scheme and user name are known.
  package static func bytes(_ token: Secret, _ scheme: Target.Scheme?, username: String?) -> [UInt8] {
    switch scheme ?? .bearer {
    case .bearer: joined("Bearer ", token)
    case .basic: basic(token, username ?? standardUsername)
    }
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
