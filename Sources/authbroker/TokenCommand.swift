/// `authbroker token`.
enum TokenCommand: Command {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "token",
    summary: "Print a fresh access token",
    details: """
      Prints the token and nothing else; with --json its expiry and scopes as well. It is refreshed first where it
      would expire too soon. A broker is started where there is none.

      With --scope or --audience it is a token for those, obtained with the session's refresh token and kept apart from
      the session's own; where that one has the scopes, it is printed.

      --id prints the ID token instead, for servers that ask who the user is; the profile must have allowIdToken: true.
      """,
    options: TokenRequest.options + [IDTokenRequest.option],
    examples: [
      "authbroker token",
      "authbroker token -p work --min-validity 300",
      "authbroker token --scope orders:read --json",
    ])

  /// Asks for the token and prints it.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    if context.arguments.has(IDTokenRequest.option.name) { return try IDTokenRequest.printToken(context) }
    try TokenRequest.printToken(context, after: "")
  }
}
