import BrokerProtocol
import JOSE
import JSON

/// The claims of an access token (RFC 7519; RFC 9068, section 2.2).
struct AccessTokenClaims: Equatable {
  /// The issuer (`iss`).
  var issuer = LocalProviderConfiguration.standardIssuer
  /// The audience (`aud`).
  var audience = LocalProviderConfiguration.standardAudience
  /// The account (`sub`).
  var subject: String
  /// The token family (`sid`, OpenID Connect Front-Channel Logout 1.0, section 3).
  var family: String
  /// The token's own name (`jti`), drawn for each.
  var identifier = LocalProvider.identifier()
  /// When it was made (`iat`).
  var issuedAt: Timestamp
  /// When it expires (`exp`).
  var expiresAt: Timestamp
  /// When its user last proved who they are (`auth_time`); nil where that was not noted.
  var authTime: Timestamp?
  /// The methods of that authentication (`amr`).
  var methods = AuthenticationMethods.password
  /// The scopes (`scope`), joined by spaces; empty for the default.
  var scopes = ""
}

extension AccessTokenClaims: JSONEncodable {
  /// Writes the payload of the token.
  ///
  /// Times are whole seconds; the expiry is rounded up, so that no token expires before it was said to.
  func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("iss", issuer)
      writer.member("sub", subject)
      writer.member("aud", audience)
      writer.member("sid", family)
      writer.member("iat", Int(issuedAt.milliseconds / 1000))
      writer.member("exp", Int((expiresAt.milliseconds + 999) / 1000))
      writer.member("jti", identifier)
      if let authTime { writer.member("auth_time", Int(authTime.milliseconds / 1000)) }
      if !methods.names.isEmpty { writer.member("amr", methods.names) }
      if !scopes.isEmpty { writer.member("scope", scopes) }
    }
  }
}

extension AccessTokenClaims {
  /// Reads claims whose signature was verified; nil where something is missing.
  init?(_ claims: JWTClaims) {
    guard let issuer = claims.text("iss"), let audience = claims.text("aud"), let subject = claims.text("sub"),
      let family = claims.text("sid"), let identifier = claims.text("jti"), let issuedAt = claims.moment("iat"),
      let expiresAt = claims.moment("exp")
    else { return nil }
    self.issuer = issuer
    self.audience = audience
    self.subject = subject
    self.family = family
    self.identifier = identifier
    self.issuedAt = issuedAt
    self.expiresAt = expiresAt
    authTime = claims.moment("auth_time")
    let names = (try? claims["amr"]?.elements().map { try $0.string() }) ?? []
    methods = AuthenticationMethods(stored: names.joined(separator: " "))
    scopes = claims.text("scope") ?? ""
  }
}
