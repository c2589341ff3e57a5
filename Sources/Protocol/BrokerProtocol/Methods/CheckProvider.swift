public import JSON

/// Checks the provider of one profile in detail: what it supports, and what does not work without the rest.
///
/// Needs no session and no vault. Only requests that change nothing are sent, and none carries a user's credential.
public enum CheckProvider: BrokerMethod {
  public static let name = "checkProvider"

  /// What a request carries: the profile to check.
  public typealias Params = ProfileParams

  public struct Result: ObjectCodable, Equatable {
    /// The profile.
    public var profile: ProfileName
    /// The type of its provider.
    public var provider: String
    /// How sessions can be started, the default first.
    public var loginMethods: [String]
    /// The methods that the provider can be used for beside logins; empty from a broker that does not tell.
    public var methods: [String]
    /// What was found, in the order in which it was checked.
    public var findings: [ProviderFinding]
    /// What a trial with credentials would check; the message says what that would show.
    public var trial: [ProviderFinding]

    public init(
      profile: ProfileName, provider: String, loginMethods: [String], methods: [String] = [],
      findings: [ProviderFinding], trial: [ProviderFinding]
    ) {
      self.profile = profile
      self.provider = provider
      self.loginMethods = loginMethods
      self.methods = methods
      self.findings = findings
      self.trial = trial
    }

    public static let blank = Result(profile: .default, provider: "", loginMethods: [], findings: [], trial: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("profile", &profile)
      try coder.required("provider", &provider)
      try coder.required("loginMethods", &loginMethods)
      try coder.defaulted("methods", &methods)
      try coder.required("findings", &findings)
      try coder.required("trial", &trial)
    }
  }
}

extension CheckProvider.Result {
  public static let notes = SchemaNotes(members: [
    "provider": "The type of the profile's provider.",
    "loginMethods": "How sessions can be started, as in the parameter method of login.",
    "methods": "What the profile's provider can do beside logins, as in capabilities.providers of initialize.",
    "trial": "What tryProvider would check; the message says what that would show.",
  ])
}

extension CheckProvider {
  public static var document: MethodDocument {
    MethodDocument(
      """
      Checks the provider of one profile in detail, and lists what a trial would check; works while the vault is \
      locked.
      """,
      details:
        """
        Only requests that change nothing are sent (GET and OPTIONS; for Firebase one lookup with an invalid token; \
        for OpenID Connect one token request with a refresh token that was never issued, which tells whether the \
        provider accepts the client), and no user's credential. A provider that cannot be reached is a finding, not an \
        error.
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
              "methods": ["awaitLogin", "getCurrentUser"],
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
