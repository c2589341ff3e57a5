import BrokerCore
import SecretMemory

/// The stand-in for a refresh token in the session of a client that has logged in as itself.
///
/// Such a client is given no refresh token (RFC 6749, section 4.4.3): it asks again, with its own password. The grant
/// is kept as a string that no refresh token can be, since those are visible characters (RFC 6749, appendix A.17). It
/// is sent nowhere.
struct ClientGrant: Equatable {
  /// The requested scopes; empty for the provider's default.
  let scopes: [String]

  private static let mark: [UInt8] = [0x01] + Array("client_credentials".utf8)

  /// A grant for scopes.
  init(scopes: [String]) { self.scopes = scopes }

  /// Reads the kept form; nil for a refresh token.
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

  /// The form in which it is kept in a session.
  ///
  /// - Throws: `SecretMemoryExhausted` where the locked memory has no room for it.
  func kept() throws(SecretMemoryExhausted) -> BoundToken {
    var bytes = Self.mark + Array(scopes.map { " " + $0 }.joined().utf8)
    return BoundToken(try Secret(wiping: &bytes))
  }
}
