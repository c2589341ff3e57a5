import BrokerCore
import BrokerProtocol
import JOSE
import JSON
import SecretMemory

/// Reads an ID token that came straight from the token endpoint.
///
/// The connection that it came over is one that the provider's certificate vouches for: then its signature need not be
/// checked (OpenID Connect Core, section 3.1.3.7, item 6). Everything else is.
struct IDToken {
  /// The dialect of the provider.
  let dialect: OIDCDialect
  /// The client that the token must be for.
  let clientID: String

  /// The claims of a token.
  struct Claims: Equatable {
    /// The user.
    var user: User
    /// When the user authenticated, by the provider's clock; nil where the token does not say.
    var authTime: Timestamp?
  }

  /// How far the provider's clock may be off.
  static let tolerance = Duration.seconds(300)

  /// Checks a token and reads whose it is.
  ///
  /// - Parameters:
  ///   - token: as the token endpoint gave it.
  ///   - nonce: the value that the login was begun with (OpenID Connect Core, section 3.1.2.1); nil where there was none.
  ///   - now: the provider's clock.
  /// - Returns: what it says, or what is wrong with it.
  func examined(_ token: Secret, nonce: String?, at now: Timestamp) -> Result<Claims, IDTokenFlaw> {
    guard let isSigned = CompactJWS.read(.header, of: token, { Self.isSigned($0) }) else {
      return .failure(.malformed)
    }
    guard isSigned else { return .failure(.unsigned) }
    return CompactJWS.read(.payload, of: token) { payload in
      Result { () throws(IDTokenFlaw) in try claims(payload, nonce, now) }
    } ?? .failure(.malformed)
  }

  private static func isSigned(_ header: JSONNode) -> Bool {
    guard let algorithm = header["alg"].flatMap({ try? $0.string() }) else { return false }
    return !algorithm.isEmpty && algorithm.lowercased() != "none"
  }

  private func claims(_ payload: JSONNode, _ nonce: String?, _ now: Timestamp) throws(IDTokenFlaw) -> Claims {
    guard let claims = JWTClaims(payload) else { throw .malformed }
    guard let issuer = claims.text("iss"), IssuerCheck(dialect).isOwn(token: issuer, tenant: claims.text("tid")) else {
      throw .issuer
    }
    guard isForUs(claims) else { throw .audience }
    guard claims["exp"] != nil else { throw .endless }
    guard isInTime(claims, now) else { throw .time }
    // The token came straight from the provider: how long the comparison takes tells no one anything.
    if let nonce, claims.text("nonce") != nonce { throw .nonce }
    guard let user = UserReader(quirks: dialect.quirks).user(payload) else { throw .subject }
    return Claims(user: user, authTime: claims.numericDate("auth_time"))
  }

  /// Whether `aud` names this client; where there is an `azp`, that must too (section 3.1.3.7, items 3 to 5; errata set
  /// 2 wants none where `aud` names others as well).
  private func isForUs(_ claims: JWTClaims) -> Bool {
    claims.audiences.contains(clientID) && (claims["azp"] == nil || claims.text("azp") == clientID)
  }

  private func isInTime(_ claims: JWTClaims, _ now: Timestamp) -> Bool {
    guard let end = claims.numericDate("exp"), end + Self.tolerance > now else { return false }
    guard claims["nbf"] != nil else { return true }
    guard let begin = claims.numericDate("nbf") else { return false }
    return begin <= now + Self.tolerance
  }
}
