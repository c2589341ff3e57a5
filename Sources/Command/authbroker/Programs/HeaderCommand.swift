/// `authbroker header`.
enum HeaderCommand: Command {
  static let name = "header"
  static let about = CommandDescription(
    summary: "Print the HTTP header that carries the access token",
    details: """
      Prints `Authorization: Bearer TOKEN` (RFC 6750), for example for curl, which reads headers from a file:
        authbroker header | curl --header @- https://api.example.com/

      With --format headers it is a JSON object, as programs take it that run a command for their headers:
        {"Authorization": "Bearer TOKEN"}

      With --json it is the broker's whole answer, and the header's value as authorization.
      A profile whose provider is static says in which header its secret is sent, and with which scheme.
      With --url it is the token of that target, and `Authorization: Basic` where the target's scheme is that.
      """,
    options: TokenRequest.options + [TokenFormat.headerOption, TargetOption.option],
    examples: [
      "authbroker header | curl --header @- https://api.example.com/",
      "authbroker header --url https://git.example.com",
    ])

  /// Asks for the token and prints the header.
  static func run(_ context: Context) throws(CommandFailure) {
    let format = try TokenFormat.chosen(context, among: [.header, .headers, .json], orElse: .header)
    try TokenRequest.printToken(context, as: format, hasHeader: true)
  }
}
