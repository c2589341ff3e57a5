public import JSONRPC
public import SecretMemory

/// Tells that a server refused a token, and gives the one to use instead.
public enum ReportRejected: BrokerMethod {
  public static let name = "reportRejected"

  public typealias Result = AccessToken

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The refused token.
    public var accessToken: Secret?
    /// Or its keyed hash.
    public var tokenID: String?
    /// The HTTP status of the refusal: 401 or 403.
    public var status: Int
    /// What the token was asked for with, where that was said: see ``GetAccessToken/Params/scopes``.
    public var scopes: [String]?
    /// Whom it was asked for, where that was said: see ``GetAccessToken/Params/audience``.
    public var audience: String?

    public init(
      profile: ProfileName? = nil, accessToken: Secret? = nil, tokenID: String? = nil, status: Int = 401,
      scopes: [String]? = nil, audience: String? = nil
    ) {
      self.profile = profile
      self.accessToken = accessToken
      self.tokenID = tokenID
      self.status = status
      self.scopes = scopes
      self.audience = audience
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.optional("accessToken", &accessToken, .token)
      try coder.optional("tokenId", &tokenID, .word)
      try coder.defaulted("status", &status)
      try coder.optional("scopes", &scopes)
      try coder.optional("audience", &audience)
    }
  }
}
