import BrokerProtocol
import StateDirectory

/// The open connections: `authbroker status --clients`.
enum ClientTable {
  /// The option of `status`.
  static let option = Option.flag("--clients", "show the open connections, and the process behind each")

  /// Asks for them, as many at a time as the broker gives, and prints a line for each.
  static func run(_ context: Context) throws(CommandFailure) {
    var connection = try context.connect()
    var clients: [ListClients.ClientConnection] = []
    var page: ListClients.Result
    repeat {
      page = try context.call(ListClients.self, .init(after: clients.last?.connection), on: &connection)
      clients += page.clients
    } while page.omitted > 0 && !page.clients.isEmpty
    guard !context.wantsJSON else { return context.printJSON(ListClients.Result(clients: clients)) }
    var table = TextTable("PID", "USER", "COMMAND", "BY", "UNIT", "LABEL", "TOOL", "SINCE", "PROFILES")
    for client in clients {
      let user = client.user ?? client.uid.map { String($0) }
      let profiles = client.isAdministrative ? "all (administrative)" : String(client.profiles)
      table.add(
        client.pid.map { String($0) }, plain(user), plain(client.command),
        plain(client.socket.map { "socket \($0)" } ?? client.entrance), plain(client.unit), plain(client.label),
        plain(client.tool), LocalTime.clock(client.connectedAt), profiles)
    }
    table.print(context.style)
  }

  private static func plain(_ text: String?) -> String? { text.map { PlainText.line($0.utf8) } }
}
