package import BrokerProtocol
package import JSON
package import SecretMemory

/// The claims of a JSON Web Token (RFC 7519, section 4), each as far as it is sound.
package struct JWTClaims: Sendable {
  private let root: JSONNode

  /// The claims of a payload; nil for what is no object.
  package init?(_ root: JSONNode) {
    guard root.kind == .object else { return nil }
    self.root = root
  }

  /// A claim as it is in the payload.
  package subscript(name: String) -> JSONNode? { root[name] }

  /// A claim that is a string.
  package func text(_ name: String) -> String? { root[name].flatMap { try? $0.string() } }

  /// A claim that is a moment, by the clock of the token's issuer.
  package func moment(_ name: String) -> Timestamp? { root[name].flatMap(NumericDate.moment) }

  /// A claim that is a number of seconds since 1970, also as a string, and nothing else (section 2, NumericDate).
  package func numericDate(_ name: String) -> Timestamp? {
    guard let seconds = root[name].flatMap(NumericDate.number) else { return nil }
    return Int64(exactly: (seconds * 1000).rounded()).map { Timestamp(milliseconds: $0) }
  }

  /// The audiences (`aud`, section 4.1.3): one string, or a list; what is no string is left out.
  package var audiences: [String] {
    guard let audience = root["aud"] else { return [] }
    return text("aud").map { [$0] } ?? ((try? audience.elements()) ?? []).compactMap { try? $0.string() }
  }
}

/// A token read as a JWT without a check of its signature: what it says is a hint, no proof.
///
/// The token is its server's to understand; a broker that knows no lifetime otherwise looks for `exp` in it.
package enum UnverifiedToken {
  /// Reads the claims of a token; when it returns, nothing refers to their bytes any more.
  ///
  /// - Returns: what `read` makes of them; nil for what is no JWT.
  package static func claims<Value>(of token: Secret, _ read: (JWTClaims) -> Value?) -> Value? {
    CompactJWS.read(.payload, of: token, isLenient: true) { JWTClaims($0).flatMap(read) }
  }

  /// Looks into the token for when it was issued and when it expires, both by its server's clock.
  ///
  /// - Parameter token: any token, of any age.
  /// - Returns: what it says; nil for what is no JWT, or names no expiry.
  package static func span(of token: Secret) -> (issuedAt: Timestamp?, end: Timestamp)? {
    claims(of: token) { claims in claims.moment("exp").map { (claims.moment("iat"), $0) } }
  }
}
