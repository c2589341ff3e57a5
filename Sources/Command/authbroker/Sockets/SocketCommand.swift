import BrokerProtocol
import LinuxSystem
import StateDirectory

/// `authbroker socket`.
enum SocketCommand: CommandGroup {
  static let name = "socket"
  static let summary = "Give a container, a sandbox or another machine some profiles only"
  static let details = """
    A limited socket gives its clients the profiles, methods, scopes and audiences that it is opened with, and nothing
    else exists for them. Sockets that are to stay stand in the section sockets of the configuration.
    """
  static var members: [CommandEntry] { [open, list, close, SocketForwardCommand.entry] }

  private static var open: CommandEntry {
    CommandEntry(
      "socket open",
      CommandDescription(
        operands: "PROFILE [PROFILE...]", summary: "Open a limited socket, and print its path",
        details: """
          Standard output has the path alone. The socket is open until its time is over, `authbroker socket close`, or the
          end of the broker, and keeps a broker that was started on demand. It is alone in its directory, which is what a
          container mounts.

          Programs of other users are served with --uid; --uid subuid stands for those of your containers (subuid(5)).
          Other users of this machine name yours in AUTHBROKER_SERVER_UID.
          """,
        options: SocketDraft.options,
        examples: [
          "export AUTHBROKER_SOCKET=$(authbroker socket open work --for 1h)",
          "authbroker socket open shop --method getAccessToken --scope read --for 8h",
        ]),
      calls: OpenSocket.self,
      with: { context throws(CommandFailure) in try SocketDraft(context, context.arguments.operands).params },
      show: { socket, context throws(CommandFailure) in
        Output.line(socket.path)
        let draft = try SocketDraft(context, context.arguments.operands)
        let others =
          draft.params.users == nil
          ? "" : "; other users of this machine set AUTHBROKER_SERVER_UID=\(ProcessIdentity.user)"
        context.notice(
          Message(
            "the socket is open for \(draft.params.lifetime.inWords)\(others)",
            next: NextCommand("close it with", "socket", "close", socket.socketID)))
      })
  }

  private static var list: CommandEntry {
    CommandEntry(
      "socket list",
      CommandDescription(
        summary: "List the limited sockets, with those of the configuration", examples: ["authbroker socket list"]),
      calls: ListSockets.self,
      show: { result, context in
        guard !result.sockets.isEmpty else { return Output.notice("there is no limited socket") }
        var table = TextTable("ID", "PROFILES", "GIVES", "CLIENTS", "EXPIRES", "PATH")
        for socket in result.sockets {
          table.add(
            PlainText.line(socket.socketID.utf8), words(socket.profiles.map { $0.description }), gifts(of: socket),
            String(socket.connections), socket.expiresAt.map { LocalTime.relative($0) },
            PlainText.line(socket.path.utf8))
        }
        table.print(context.style) { line, cells in
          if result.sockets[line].problem != nil { cells[0] = context.style.warning(cells[0]) }
        }
        for socket in result.sockets {
          guard let problem = socket.problem else { continue }
          let name = PlainText.line(socket.socketID.utf8)
          context.notice(Message("\(name) cannot be used: \(BrokerSentence.plain(problem))"))
        }
      })
  }

  private static func gifts(of socket: LimitedSocketState) -> String {
    let methods = socket.methods.map(words) ?? "all methods"
    let scopes = socket.scopes.map { ", scopes \(words($0))" } ?? ""
    let audiences = socket.audiences.map { ", audiences \(words($0))" } ?? ""
    return methods + scopes + audiences + (socket.may == "use" ? ", no tokens" : "")
  }

  private static func words(_ list: [String]) -> String { PlainText.line(list.joined(separator: " ").utf8) }

  private static var close: CommandEntry {
    CommandEntry(
      "socket close",
      CommandDescription(
        operands: "ID", summary: "Close a socket that was opened, and its connections",
        examples: ["authbroker socket close open-3f9a2c1b"]),
      calls: CloseSocket.self, with: { .init(socketID: $0.arguments.operands[0]) },
      explaining: { failure, context in
        guard failure.error?.pointer == "/socketId" else { return failure }
        let id = context.arguments.operands[0].shellQuoted
        return failure.saying(
          Message("no socket with the id \(id) was opened, or it is closed", next: NextCommand("see", "socket", "list"))
        )
      },
      show: { _, context in Output.notice("closed \(PlainText.line(context.arguments.operands[0].utf8))") })
  }
}
