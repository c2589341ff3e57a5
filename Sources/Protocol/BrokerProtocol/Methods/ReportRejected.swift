public import JSON
public import SecretMemory

/// Reports that a server rejected a token, and returns the one to use instead, for the same scopes and audience.
///
/// With the server's challenge: where it wants more scopes (RFC 6750, `insufficient_scope`), the token has them as well, or
/// the error is reauthRequired with all that a login must ask for; where it wants the user to authenticate again, or by
/// other means (RFC 9470, `insufficient_user_authentication`), the error is reauthRequired with acrValues and maxAge. The
/// next login of the profile asks for these.
///
/// - Throws: profile, session, provider, insufficientScope, consentDenied.
public enum ReportRejected: BrokerMethod {
  public static let name = "reportRejected"

  public typealias Result = AccessToken

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The rejected token; either this or tokenId is given.
    public var accessToken: Secret?
    /// The keyed hash of the rejected token.
    public var tokenID: String?
    /// The HTTP status of the rejection.
    ///
    /// 401: refresh if it is still the current one. 403: only tell subscribers.
    public var status: Int
    /// The scopes that the token was requested with; those that the broker has recorded where absent.
    public var scopes: [String]?
    /// The audience that the token was requested for; the one that the broker has recorded where absent.
    public var audience: String?
    /// The WWW-Authenticate field of the rejection, several joined by commas.
    public var challenge: String?

    public init(
      profile: ProfileName? = nil, accessToken: Secret? = nil, tokenID: String? = nil, status: Int = 401,
      scopes: [String]? = nil, audience: String? = nil, challenge: String? = nil
    ) {
      self.profile = profile
      self.accessToken = accessToken
      self.tokenID = tokenID
      self.status = status
      self.scopes = scopes
      self.audience = audience
      self.challenge = challenge
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.optional("accessToken", &accessToken, .token)
      try coder.optional("tokenId", &tokenID, .word)
      try coder.defaulted("status", &status)
      try coder.optional("scopes", &scopes)
      try coder.optional("audience", &audience)
      try coder.optional("challenge", &challenge, .text(atMost: ParameterLength.challenge))
    }
  }
}
