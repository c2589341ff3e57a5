package import BrokerProtocol
package import SecretMemory
import Synchronization

/// The ID tokens that sessions come with.
extension ScriptedProvider {
  /// The ID tokens that a session comes with.
  package struct IDTokens: Sendable {
    /// How long one lives.
    package var lifetime: Duration
    /// Whether a refresh brings another one.
    package var comeWithRefreshes: Bool

    /// ID tokens of this lifetime.
    package init(lifetime: Duration, comeWithRefreshes: Bool = true) {
      self.lifetime = lifetime
      self.comeWithRefreshes = comeWithRefreshes
    }
  }

  /// Lets sessions come with ID tokens; nil: with none.
  package nonisolated func setIDTokens(_ idTokens: IDTokens?) { state.withLock { $0.idTokens = idTokens } }

  /// The ID token that comes with the `number`-th pair of tokens; its signature is none.
  package static func idToken(_ number: Int, issuedAt: Timestamp, lifetime: Duration) -> Secret {
    let (iat, exp) = (issuedAt.milliseconds / 1000, (issuedAt + lifetime).milliseconds / 1000)
    let claims = #"{"iss":"https://id.example","sub":"user-1","iat":\#(iat),"exp":\#(exp),"jti":"\#(number)"}"#
    return secret(base64URL(#"{"alg":"RS256"}"#) + "." + base64URL(claims) + "." + idTokenEnd(number))
  }

  /// What the ID token of this number ends with.
  package static func idTokenEnd(_ number: Int) -> String { base64URL("signature \(number)") }

  private static func base64URL(_ text: String) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    let bytes = Array(text.utf8)
    return stride(from: 0, to: bytes.count, by: 3).map { start in
      let three = bytes[start..<min(start + 3, bytes.count)]
      let bits = three.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - three.count))
      let characters = (0..<4).map { alphabet[Int(bits >> UInt32(18 - 6 * $0) & 63)] }
      return String(characters.prefix(three.count + 1))
    }
    .joined()
  }
}
