public import JSON

/// Looks closely at the provider of one profile: what it says of itself, and what is lost where it says too little.
///
/// Needs no session and no vault. Only requests that change nothing are sent, and none carries a user's credential.
public enum CheckProvider: BrokerMethod {
  public static let name = "checkProvider"

  /// What a request carries: the profile to look at.
  public typealias Params = ProfileParams

  public struct Result: ObjectCodable, Equatable {
    /// The profile.
    public var profile: ProfileName
    /// The type of its provider.
    public var provider: String
    /// How sessions can be begun, the way to take where none is named first.
    public var loginMethods: [String]
    /// What was found, in the order in which it was looked at.
    public var findings: [ProviderFinding]
    /// What a trial with credentials would look at; the message is what it would show.
    public var trial: [ProviderFinding]

    public init(
      profile: ProfileName, provider: String, loginMethods: [String], findings: [ProviderFinding],
      trial: [ProviderFinding]
    ) {
      self.profile = profile
      self.provider = provider
      self.loginMethods = loginMethods
      self.findings = findings
      self.trial = trial
    }

    public static let blank = Result(profile: .default, provider: "", loginMethods: [], findings: [], trial: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("profile", &profile)
      try coder.required("provider", &provider)
      try coder.required("loginMethods", &loginMethods)
      try coder.required("findings", &findings)
      try coder.required("trial", &trial)
    }
  }
}

extension CheckProvider.Result {
  public static let notes = SchemaNotes(members: [
    "provider": "The type of the profile's provider.",
    "loginMethods": "How sessions can be begun, as in the parameter method of login.",
    "trial": "What tryProvider would look at; the message is what it would show.",
  ])
}

extension CheckProvider {
  public static var document: MethodDocument {
    MethodDocument(
      """
      Looks closely at the provider of one profile, and says what a trial would look at; works while the vault is \
      locked.
      """,
      details:
        """
        Only requests that change nothing are sent (GET and OPTIONS; for Firebase one lookup with a token that is \
        none; for OpenID Connect one request for tokens with a refresh token that was never issued, by which the \
        provider says whether it knows the client), and no user's credential. A provider that cannot be reached is a \
        finding, no error.
        """,
      result: "check",
      errors: [.unknownProfile, .rateLimited],
      examples: [
        .init(
          "an issuer that is written otherwise", ["profile": #""work""#],
          result:
            #"""
            {
              "profile": "work",
              "provider": "oidc",
              "loginMethods": ["browser", "deviceCode"],
              "findings": [
                {
                  "check": "issuer",
                  "level": "failure",
                  "message": "The document's issuer differs in the slash at its end: it says \"https://sso.example.com/\", the configuration \"https://sso.example.com\".",
                  "advice": "In the profile's section write: issuer: \"https://sso.example.com/\"",
                  "errorKind": "configInvalid"
                }
              ],
              "trial": [
                {
                  "check": "login",
                  "level": "note",
                  "message": "the credentials are accepted, and tokens come back"
                }
              ]
            }
            """#)
      ])
  }
}
