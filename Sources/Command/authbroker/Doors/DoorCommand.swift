import BrokerProtocol
import StateDirectory

/// `authbroker door`.
enum DoorCommand: CommandGroup {
  static let name = "door"
  static let summary = "Let a program use an API over a door that holds the token"
  static let details = """
    A door is an HTTP server on this machine that forwards to one API, with the token attached; its clients hold a
    placeholder. Where requests may go is in requests.allow of the profile.
    """
  static var members: [CommandEntry] { [DoorOpenCommand.entry, DoorRunCommand.entry, list, close] }

  private static var list: CommandEntry {
    CommandEntry(
      "door list", CommandDescription(summary: "List the open doors", examples: ["authbroker door list"]),
      calls: ListDoors.self,
      show: { result, context in
        guard !result.doors.isEmpty else { return Output.notice("no door is open") }
        var table = TextTable("ID", "PROFILE", "TO", "REQUESTS", "REFUSED", "EXPIRES", "URL")
        for door in result.doors {
          table.add(
            PlainText.line(door.doorID.utf8), door.profile.description, PlainText.line(door.origin.utf8),
            String(door.forwarded), String(door.refused), door.expiresAt.map { LocalTime.relative($0) },
            PlainText.line(door.url.utf8))
        }
        table.print(context.style)
      })
  }

  private static var close: CommandEntry {
    CommandEntry(
      "door close",
      CommandDescription(
        operands: "ID", summary: "Close a door, and its connections", examples: ["authbroker door close door-3f9a2c1b"]),
      calls: CloseDoor.self, with: { .init(doorID: $0.arguments.operands[0]) },
      explaining: { failure, context in
        guard failure.error?.pointer == "/doorId" else { return failure }
        let id = context.arguments.operands[0].shellQuoted
        return failure.saying(
          Message("no door with the id \(id) is open", next: NextCommand("see", "door", "list")))
      },
      show: { _, context in Output.notice("closed \(PlainText.line(context.arguments.operands[0].utf8))") })
  }
}

/// The options and the parameters of a door.
enum DoorDraft {
  /// The variables of a program that get the address.
  static let address = Option.value(
    "--url-env", "NAME", "put the address into this variable as well, such as OPENAI_BASE_URL=/v1; may be repeated")
  /// The variables of a program that get the placeholder.
  static let token = Option.value(
    "--token-env", "NAME", "put the placeholder into this variable as well, such as OPENAI_API_KEY; may be repeated")
  /// The options of every door.
  static let options: [Option] = [
    .value("--for", "TIME", "close it after this time: 30m, 8h, 2d"),
    .value("--placeholder", "PREFIX", "begin the placeholder so, for clients that check tokens: ghp_, sk-"),
    .flag("--pass-unauthorized", "pass an answer 401 on, as git and registries want it, in the place of 502"),
  ]

  /// The parameters; `port` where the command line names neither a port nor a path.
  static func params(_ context: Context, _ origin: String?, port: Int? = nil) throws(CommandFailure) -> OpenDoor.Params
  {
    let arguments = context.arguments
    var params = OpenDoor.Params(profile: try context.profile(), origin: origin, port: port)
    params.placeholder = arguments["--placeholder"]
    if arguments.has("--pass-unauthorized") { params.unauthorized = "pass" }
    if let text = arguments["--for"] {
      guard let time = Duration(text) else {
        throw .usage("--for needs a time such as 30m, 8h or 2d, not \(text.shellQuoted)")
      }
      params.lifetime = time
    }
    if let text = arguments["--port"] {
      guard let number = Int(text) else { throw .usage("--port needs a number, not \(text.shellQuoted)") }
      params.port = number
    }
    if let path = arguments["--path"] { (params.path, params.port) = (path, nil) }
    return params
  }
}
