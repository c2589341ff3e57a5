/// `authbroker target`.
enum TargetCommand: CommandGroup {
  static let name = "target"
  static let summary = "Say which server gets which profile's token"
  static let details = """
    The targets stand in the section targets of the configuration; helpers and `authbroker token --url` look a server up
    there.
    """
  static var members: [CommandEntry] { [TargetAddCommand.entry] }
}
