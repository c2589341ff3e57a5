/// `authbroker token`.
enum TokenCommand: Command {
  static let name = "token"
  static let about = CommandDescription(
    summary: "Print a fresh access token",
    details: """
      Prints the token and nothing else; with --json its expiry and scopes as well. It is refreshed first where it
      would expire too soon. A broker is started where there is none.

      --format prints it as other programs take it: env as commands for a shell (eval "$(authbroker token --format env)"),
      header as a line of HTTP, headers as a JSON object of it, docker as a credential helper's answer, execcredential as
      that of a plugin of kubectl.
      --url takes the token of the target in the configuration that the address belongs to.

      With --scope or --audience it is a token for those, obtained with the session's refresh token and kept apart from
      the session's own; where that one has the scopes, it is printed.

      With --min-session nothing is printed where the session itself, as far as its end is known, does not last so long:
      for work that no login may interrupt.

      --id prints the ID token instead, for servers that ask who the user is; the profile must have allowIdToken: true.
      """,
    options: TokenRequest.options + [
      SessionEnd.option, IDTokenRequest.option, TargetOption.option, TokenFormat.option, EnvironmentTemplate.option,
    ],
    examples: [
      "authbroker token",
      "authbroker token -p work --min-validity 300",
      "authbroker token --min-session 28800",
      "authbroker token --scope orders:read --json",
      "authbroker token --format env --env API_TOKEN",
    ])

  /// Asks for the token and prints it.
  static func run(_ context: Context) throws(CommandFailure) {
    let format = try TokenFormat.chosen(context)
    if context.arguments.has(IDTokenRequest.option.name) { return try IDTokenRequest.printToken(context, as: format) }
    try TokenRequest.printToken(context, as: format)
  }
}
