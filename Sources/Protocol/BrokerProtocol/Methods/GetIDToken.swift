/// Returns the session's ID token, refreshing it first where it has expired.
public enum GetIDToken: BrokerMethod {
  /// What a request carries.
  public typealias Params = ProfileParams
  /// What the answer carries.
  public typealias Result = IdentityToken

  /// The name on the wire.
  public static let name = "getIdToken"
}

extension GetIDToken {
  public static var document: MethodDocument {
    MethodDocument(
      """
      Returns the session's ID token (OpenID Connect Core, section 2), refreshing it first where it has expired. The \
      profile's allowIdToken must be set.
      """,
      result: "token",
      errors: ErrorKind.ofProfile + ErrorKind.ofSession + ErrorKind.ofProvider + [.accessDenied],
      examples: [
        .init(
          "the usual call", ["profile": #""default""#],
          result:
            """
            {"idToken": "example-id-token", "expiresAt": "2026-03-01T09:15:00Z"}
            """)
      ])
  }
}
