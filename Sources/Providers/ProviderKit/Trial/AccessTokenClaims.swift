import BrokerCore
import BrokerProtocol
import JSON
import SecretMemory

/// What an access token says of itself, where it is a JWT (RFC 9068).
///
/// It is for the server that it is shown to, so nothing hangs on it here but a finding. Its signature is not examined.
struct AccessTokenClaims: Sendable, Equatable {
  /// When the token ends: `exp` as it is to be written, a number of seconds (RFC 7519, section 4.1.4).
  let expiresAt: Timestamp?

  /// Reads a token; nil for what is no JWT.
  init?(_ token: Secret) {
    let seconds = UnverifiedToken.claims(of: token) { claims -> Double?? in
      guard claims.kind == .object else { return nil }
      return .some(claims["exp"].flatMap { try? $0.number() })
    }
    guard let seconds else { return nil }
    expiresAt = seconds.flatMap { Int64(exactly: ($0 * 1000).rounded()) }.map { Timestamp(milliseconds: $0) }
  }
}
