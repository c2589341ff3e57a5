import ClientSocket
import LinuxSystem

/// `authbroker serve`.
enum ServeCommand: Command {
  static let name = "serve"
  static let about = CommandDescription(
    summary: "Run the broker, or join standard input and output to it",
    details: """
      Without options it is the broker of the state directory, in the foreground, until SIGTERM or SIGINT. With --stdio
      it joins standard input and output to that broker, which is started if there is none: for editors and tools. It
      ends with 0 at the end of its input, when the last answers are written, or when the broker closes the connection
      after `shutdown`; with 8 when the broker ends. With --stdio --private it is a broker of its own, which lives as
      long as its input.
      """,
    options: [
      .flag("--stdio", "speak on standard input and output"),
      .flag("--private", "with --stdio: be the broker itself, in this process"),
    ],
    examples: ["authbroker serve", "authbroker serve --stdio"])

  /// Becomes the daemon, or relays to it.
  static func run(_ context: Context) throws(CommandFailure) {
    let isPrivate = context.arguments.has("--private")
    guard context.arguments.has("--stdio") else {
      guard !isPrivate else { throw .usage("--private needs --stdio") }
      try expectOwnSocket(context)
      return try DaemonProgram.become(context, context.wantsJSON ? ["--json"] : [])
    }
    guard !isPrivate else { return try DaemonProgram.become(context, ["--stdio"]) }
    try StandardRelay.run(context, mayStart: true)
  }

  /// Refuses a socket on which the owner of another state directory listens, and says so; anything else in the way the
  /// daemon finds.
  private static func expectOwnSocket(_ context: Context) throws(CommandFailure) {
    // A socket that a service manager passes is there already, and no broker answers on it yet.
    guard context.environment["LISTEN_FDS"] == nil else { return }
    let connector = try context.connector(mayStart: false)
    do throws(ConnectError) { _ = try connector.find() } catch {
      guard case .otherState = error else { return }
      throw CommandFailure(error)
    }
  }
}
