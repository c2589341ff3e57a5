import BrokerProtocol

/// `authbroker local introspect`.
enum LocalIntrospectCommand: Command {
  static let name = "local introspect"
  static let about = CommandDescription(
    summary: "Say whether a token of the provider is good now, and whose it is",
    details: """
      Takes an access token or a refresh token, which is asked for without echo. One that is not good ends with exit
      code 4.
      """,
    options: [SecretInput.tokenOption],
    examples: ["authbroker token | authbroker local introspect --token-stdin"])

  /// Prints the claims of the token.
  static func run(_ context: Context) throws(CommandFailure) {
    let token = try SecretInput.token(context)
    var connection = try context.connect()
    let answer = try context.call(IntrospectLocalToken.self, .init(token: token), on: &connection)
    if context.wantsJSON { context.printJSON(answer) } else { print(answer) }
    guard !answer.isActive else { return }
    throw context.wantsJSON
      ? .quiet(.wrongCredentials)
      : CommandFailure(.wrongCredentials, "the token is unknown, expired, spent or revoked")
  }

  private static func print(_ answer: TokenIntrospection) {
    guard answer.isActive else { return }
    NamedValues.print([
      ("account", answer.subject), ("session", answer.session), ("audience", answer.audience), ("scopes", answer.scope),
      ("issued", time(answer.issuedAt)), ("expires", time(answer.expiresAt)), ("proven", time(answer.authTime)),
      ("by", answer.methods?.joined(separator: " ")), ("id", answer.tokenID),
    ])
  }

  /// A NumericDate (RFC 7519, section 2) for people.
  private static func time(_ seconds: Int?) -> String? {
    seconds.map {
      LocalTime.full(Timestamp(milliseconds: Int64($0).multipliedReportingOverflow(by: 1000).partialValue))
    }
  }
}
