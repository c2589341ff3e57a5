public import JSON
public import SecretMemory

/// Reports that a server rejected a token, and returns the one to use instead.
public enum ReportRejected: BrokerMethod {
  public static let name = "reportRejected"

  public typealias Result = AccessToken

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The rejected token; nil where its hash is given.
    public var accessToken: Secret?
    /// The keyed hash of the rejected token.
    public var tokenID: String?
    /// The HTTP status of the rejection: 401 or 403.
    public var status: Int
    /// The scopes that the token was requested with, if any: see ``GetAccessToken/Params/scopes``.
    public var scopes: [String]?
    /// The audience that the token was requested for, if any: see ``GetAccessToken/Params/audience``.
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
    "accessToken": "The rejected token; either this or tokenId is given.",
    "tokenId": "The keyed hash of the rejected token.",
    "status": "401: refresh if it is still the current one. 403: only tell subscribers.",
    "scopes": "The scopes that the token was requested with; those that the broker has recorded where absent.",
    "audience": "The audience that the token was requested for; the one that the broker has recorded where absent.",
  ])
}

extension ReportRejected {
  public static var document: MethodDocument {
    MethodDocument(
      """
      Reports that a server rejected a token, and returns the one to use instead, for the same scopes and audience.
      """,
      result: "token",
      errors: ErrorKind.ofProfile + ErrorKind.ofSession + ErrorKind.ofProvider + [.insufficientScope],
      examples: [
        .init(
          "rejected with 401", ["tokenId": #""k3v9Qm2x""#, "status": "401"],
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
