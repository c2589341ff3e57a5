public import JSON
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

extension ReportRejected.Params {
  public static let notes = SchemaNotes(members: [
    "profile": .profile,
    "accessToken": "The refused token, or",
    "tokenId": "its keyed hash.",
    "status": "401: refresh if it is still the current one. 403: only tell subscribers.",
    "scopes": "What the token was asked for with; absent: what the broker knows of it.",
    "audience": "Whom it was asked for; absent: what the broker knows of it.",
  ])
}

extension ReportRejected {
  public static var document: MethodDocument {
    MethodDocument(
      """
      Tells that a server refused a token, and gives the one to use instead: one for the same scopes and audience.
      """,
      result: "token",
      errors: ErrorKind.ofProfile + ErrorKind.ofSession + ErrorKind.ofProvider + [.insufficientScope],
      examples: [
        .init(
          "refused with 401", ["tokenId": #""k3v9Qm2x""#, "status": "401"],
          result:
            """
            {
              "accessToken": "example-access-token-2",
              "tokenType": "Bearer",
              "expiresAt": "2026-03-01T09:30:00Z",
              "scopes": ["profile"],
              "profile": "default",
              "tokenId": "Zr41cW0p"
            }
            """),
        .init(
          "the token itself", ["accessToken": #""example-access-token""#],
          result:
            """
            {
              "accessToken": "example-access-token-2",
              "tokenType": "Bearer",
              "expiresAt": "2026-03-01T09:30:00Z",
              "scopes": ["profile"],
              "profile": "default",
              "tokenId": "Zr41cW0p"
            }
            """),
      ])
  }
}
