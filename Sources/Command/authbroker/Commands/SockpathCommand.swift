import ClientSocket
import LinuxSystem
import StateDirectory

/// `authbroker sockpath`.
enum SockpathCommand: Command {
  static let name = "sockpath"
  static let about = CommandDescription(
    summary: "Print the socket of the running broker",
    details: "Ends with 8 where no broker runs, unless --start starts one.",
    options: [.flag("--start", "start a broker where there is none")],
    examples: ["authbroker sockpath", "export AUTHBROKER_SOCKET=$(authbroker sockpath)"])

  /// Connects, so that the path is one that answers, and prints it.
  static func run(_ context: Context) throws(CommandFailure) {
    let connector = try context.connector(mayStart: context.arguments.has("--start"))
    let connection: BrokerConnector.Connection
    do throws(ConnectError) { connection = try connector.connect() } catch { throw CommandFailure(error) }
    let path = connection.owner?.socket ?? connector.usualSocket
    if path.utf8.count > Int(UnixSocket.longestPath) {
      context.notice(
        Message("programs that cannot use so long a path find no broker; set XDG_RUNTIME_DIR to a shorter directory"))
    }
    if context.wantsJSON { context.printJSON([("socket", path)]) } else { Output.line(path) }
  }
}
