/// `authbroker connect`.
enum ConnectCommand: Command {
  static let name = "connect"
  static let about = CommandDescription(
    summary: "Join standard input and output to the running broker",
    details: "As `serve --stdio`, but a broker is started only with --start.",
    options: [.flag("--start", "start a broker where there is none")],
    examples: ["authbroker connect"])

  /// The broker's own.
  static let speaksProtocol = true

  /// Relays until one side ends.
  static func run(_ context: Context) throws(CommandFailure) {
    try StandardRelay.run(context, mayStart: context.arguments.has("--start"))
  }
}
