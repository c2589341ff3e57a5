/// `authbroker header`.
enum HeaderCommand: Command {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "header",
    summary: "Print the HTTP header that carries the access token",
    details: """
      Prints `Authorization: Bearer TOKEN` (RFC 6750), for example for curl, which reads headers from a file:
        authbroker header | curl --header @- https://api.example.com/
      """,
    options: TokenRequest.options,
    examples: ["authbroker header | curl --header @- https://api.example.com/"])

  /// Asks for the token and prints the header.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    try TokenRequest.printToken(context, after: "Authorization: Bearer ")
  }
}
