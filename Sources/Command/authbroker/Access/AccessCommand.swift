/// `authbroker access`.
enum AccessCommand: CommandGroup {
  static let name = "access"
  static let summary = "Say what clients may do, and why"
  static let details = """
    Rules and limited sockets stand in the sections `access` and `sockets` of the configuration.
    """
  static var members: [CommandEntry] { [AccessExplainCommand.entry] }
}
