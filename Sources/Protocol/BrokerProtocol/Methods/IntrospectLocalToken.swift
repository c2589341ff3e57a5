public import JSON
public import SecretMemory

/// Tells whether a token of the embedded provider is good now, and whose it is (RFC 7662).
public enum IntrospectLocalToken: BrokerMethod {
  public static let name = "introspectLocalToken"

  public typealias Result = TokenIntrospection

  public struct Params: MethodParams, Equatable {
    /// An access token or a refresh token.
    public var token: Secret

    public init(token: Secret) { self.token = token }

    public static let blank = Params(token: .empty)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("token", &token, .token)
    }
  }
}

extension IntrospectLocalToken.Params {
  public static let notes = SchemaNotes(members: ["token": "An access token or a refresh token."])
}

extension IntrospectLocalToken {
  public static var document: MethodDocument {
    MethodDocument(
      "Tells whether a token of the embedded provider is good now, and whose it is (RFC 7662).",
      details: "A token that is unknown, expired, spent or revoked is not active, and nothing else is said of it.",
      result: "introspection",
      errors: ErrorKind.ofDirectory,
      examples: [
        .init(
          "an access token", ["token": #""example-access-token""#],
          result:
            """
            {
              "active": true,
              "scope": "profile",
              "sub": "u-7f3a",
              "exp": 1772356500,
              "iat": 1772355600,
              "jti": "example-id",
              "sid": "example-session",
              "auth_time": 1772355600,
              "amr": ["pwd"]
            }
            """),
        .init("a token that was revoked", ["token": #""example-access-token""#], result: #"{"active": false}"#),
      ])
  }
}
