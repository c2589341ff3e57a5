/// `authbroker import`.
enum ImportCommand: CommandGroup {
  static let name = "import"
  static let summary = "Take over the session of another program"
  static let details = """
    The other program's copy of the refresh token stops working as soon as the provider rotates it: from then on that
    program asks the broker for its tokens.
    """
  static var members: [CommandEntry] { [ImportJSONCommand.entry] }
}
