public import JSON

/// Checks whether the providers of the profiles can be reached.
///
/// Needs no session and no vault, so it works while the vault is locked. Every provider is sent one request that changes
/// nothing and carries no credential; a refusal is an answer like any other.
public enum CheckProviders: BrokerMethod {
  public static let name = "checkProviders"

  public struct Params: MethodParams, Equatable {
    /// The profile to check; nil means every configured one.
    public var profile: ProfileName?

    public init(profile: ProfileName? = nil) {
      self.profile = profile
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
    }
  }

  public struct Result: ObjectCodable, Equatable {
    /// A report on every provider, in the order of the configuration.
    public var providers: [ProviderReport]

    public init(providers: [ProviderReport]) {
      self.providers = providers
    }

    public static let blank = Result(providers: [])

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("providers", &providers)
    }
  }
}

extension CheckProviders.Params {
  public static let notes = SchemaNotes(members: [
    "profile": "The profile to check; every configured one where absent."
  ])
}

extension CheckProviders.Result {
  public static let notes = SchemaNotes(members: [
    "providers": "One for each profile, in the order of the configuration."
  ])
}

extension CheckProviders {
  public static var document: MethodDocument {
    MethodDocument(
      "Checks whether the providers of the profiles can be reached; works while the vault is locked.",
      details:
        """
        Every provider is sent one request that changes nothing and carries no credential. A provider that cannot be \
        reached is a result, not an error.
        """,
      result: "reports",
      errors: [.unknownProfile, .rateLimited],
      examples: [
        .init(
          "three profiles, one of them with an expired certificate",
          result:
            """
            {
              "providers": [
                {
                  "profile": "default",
                  "provider": "local",
                  "reachable": true,
                  "message": "It is part of the broker: nothing to reach."
                },
                {
                  "profile": "shop",
                  "provider": "rest",
                  "reachable": true,
                  "host": "api.example.com",
                  "tls": true,
                  "status": 401,
                  "roundTripSeconds": 0.084,
                  "clockSkewSeconds": 0,
                  "message": "It answers."
                },
                {
                  "profile": "work",
                  "provider": "rest",
                  "reachable": false,
                  "host": "sso.example.com:8443",
                  "tls": true,
                  "errorKind": "tlsFailed",
                  "message": "The provider's certificate has expired or is not valid yet; check this machine's clock, then ask its operator."
                }
              ]
            }
            """),
        .init(
          "a clock that is wrong", ["profile": #""shop""#],
          result:
            """
            {
              "providers": [
                {
                  "profile": "shop",
                  "provider": "rest",
                  "reachable": true,
                  "host": "api.example.com",
                  "tls": true,
                  "status": 401,
                  "roundTripSeconds": 0.084,
                  "clockSkewSeconds": -3600,
                  "message": "It answers, and its clock is 3600 s behind this machine's; set the clock."
                }
              ]
            }
            """),
      ])
  }
}
