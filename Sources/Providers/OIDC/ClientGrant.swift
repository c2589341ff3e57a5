import BrokerCore
import SecretMemory

/// What stands in a session's place of the refresh token where a client has logged in as itself.
///
/// Such a client is given no refresh token (RFC 6749, section 4.4.3): it asks again, with its own password. That way of
/// asking is kept as text that no refresh token can be, since those are visible characters (RFC 6749, appendix A.17). It
/// is sent nowhere.
struct ClientGrant: Equatable {
  /// What the session is good for; empty means what the provider gives by itself.
  let scopes: [String]

  private static let mark: [UInt8] = [0x01] + Array("client_credentials".utf8)

  /// A grant for scopes.
  init(scopes: [String]) { self.scopes = scopes }

  /// Reads what was kept; nil for a refresh token.
  init?(_ token: BoundToken?) {
    guard let token else { return nil }
    let text = token.value.withBytes { bytes -> String? in
      guard bytes.count >= Self.mark.count, Self.mark.indices.allSatisfy({ bytes[$0] == Self.mark[$0] }) else {
        return nil
      }
      return String(decoding: (Self.mark.count..<bytes.count).map { bytes[$0] }, as: UTF8.self)
    }
    guard let text else { return nil }
    scopes = text.split(separator: " ").map(String.init)
  }

  /// What is kept.
  ///
  /// - Throws: `SecretMemoryExhausted` where the locked memory has no room for it.
  func kept() throws(SecretMemoryExhausted) -> BoundToken {
    var bytes = Self.mark + Array(scopes.map { " " + $0 }.joined().utf8)
    return BoundToken(try Secret(wiping: &bytes))
  }
}
