import BrokerProtocol
import StateDirectory

/// The open connections: `authbroker status --clients`.
enum ClientTable {
  /// The option of `status`.
  static let option = Option.flag("--clients", "show the open connections, and the process behind each")

  /// Asks for them, and prints a line for each.
  static func run(_ context: Context) throws(CommandFailure) {
    guard let result = try context.ask(ListClients.self, Empty()) else { return }
    var table = TextTable("PID", "USER", "COMMAND", "BY", "UNIT", "LABEL", "TOOL", "SINCE", "PROFILES")
    for client in result.clients {
      let user = client.user ?? client.uid.map { String($0) }
      let profiles = client.isAdministrative ? "all (administrative)" : String(client.profiles)
      table.add(
        client.pid.map { String($0) }, plain(user), plain(client.command),
        plain(client.socket.map { "socket \($0)" } ?? client.entrance), plain(client.unit), plain(client.label),
        plain(client.tool), LocalTime.clock(client.connectedAt), profiles)
    }
    table.print(context.style)
    if result.omitted > 0 { Output.line("and \(result.omitted) more") }
  }

  private static func plain(_ text: String?) -> String? { text.map { PlainText.line($0.utf8) } }
}
