/// Tells where a profile's session stands.
public enum GetSession: BrokerMethod {
  /// What a request carries.
  public typealias Params = ProfileParams
  /// What the answer carries.
  public typealias Result = Session

  /// The name on the wire.
  public static let name = "getSession"
}

extension GetSession {
  public static var document: MethodDocument {
    MethodDocument(
      "Tells where a session stands.",
      result: "session",
      errors: [.unknownProfile],
      examples: [
        .init(
          "nobody is logged in", ["profile": #""default""#],
          result:
            """
            {
              "profile": "default",
              "provider": "local",
              "state": "signedOut",
              "scopes": [],
              "refreshTokenPresent": false
            }
            """),
        .init(
          "somebody is",
          result:
            """
            {
              "profile": "default",
              "provider": "local",
              "state": "authenticated",
              "userId": "u-7f3a",
              "user": {
                "id": "u-7f3a",
                "email": "ada@example.com",
                "emailVerified": true,
                "name": "Ada",
                "phoneNumberMasked": "•••• 42"
              },
              "scopes": ["profile"],
              "accessTokenExpiresAt": "2026-03-01T09:15:00Z",
              "refreshTokenPresent": true,
              "refreshTokenExpiresAt": "2026-03-31T09:00:00Z",
              "authTime": "2026-03-01T09:00:00Z",
              "lastValidatedAt": "2026-03-01T09:00:00Z"
            }
            """),
      ])
  }
}
