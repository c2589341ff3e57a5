public import JSON
public import SecretMemory

/// Has the user of a session prove once more who they are; the session goes on with new tokens.
public enum Reauthenticate: BrokerMethod {
  public static let name = "reauthenticate"

  public typealias Result = LoginResult

  public struct Params: MethodParams, Equatable {
    /// The profile; nil means the only configured one, else `default`.
    public var profile: ProfileName?
    /// The password; nil for a provider that has its users prove it at another device or in a browser.
    public var password: Secret?

    public init(profile: ProfileName? = nil, password: Secret? = nil) {
      self.profile = profile
      self.password = password
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("profile", &profile)
      try coder.optional("password", &password, .secret)
    }
  }
}

extension Reauthenticate.Params {
  public static let notes = SchemaNotes(members: [
    "profile": .profile,
    "password": "Absent for a provider that has its users prove it at another device or in a browser.",
  ])
}

extension Reauthenticate {
  public static var document: MethodDocument {
    MethodDocument(
      "Has the user of a session prove once more who they are; the session goes on with new tokens.",
      result: "login",
      errors: ErrorKind.ofProfile + ErrorKind.ofLogin + ErrorKind.ofProvider + [.loginRequired, .accessDenied],
      examples: [
        .init(
          "with the password", ["password": #""example-password""#],
          result:
            """
            {
              "status": "authenticated",
              "session": {
                "profile": "default",
                "provider": "oidc",
                "state": "authenticated",
                "userId": "u-7f3a",
                "user": {"id": "u-7f3a", "email": "ada@example.com"},
                "scopes": ["openid"],
                "accessTokenExpiresAt": "2026-03-01T09:15:00Z",
                "refreshTokenPresent": true,
                "authTime": "2026-03-01T09:00:00Z",
                "lastValidatedAt": "2026-03-01T09:00:00Z"
              }
            }
            """),
        .init(
          "at another device",
          result:
            """
            {
              "status": "userActionRequired",
              "action": {
                "loginFlowId": "example-login",
                "profile": "default",
                "kind": "deviceCode",
                "verificationUri": "https://sso.example.com/device",
                "verificationUriComplete": "https://sso.example.com/device?user_code=WDJB-MJHT",
                "userCode": "WDJB-MJHT",
                "expiresAt": "2026-03-01T09:10:00Z",
                "intervalSeconds": 5
              }
            }
            """),
      ])
  }
}
