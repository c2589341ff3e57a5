/// Lays out the help.
enum HelpText {
  /// The overview that `authbroker help` prints.
  static var overview: String {
    var text = "usage: authbroker [options] COMMAND [arguments]\n\n"
    text += "Keeps login sessions for the programs of this user and hands them fresh access tokens.\n\nCommands:\n"
    text += commands(CommandList.all)
    text += "\nOptions that every command takes:\n" + table(Option.global)
    text += """

      Exit codes: 0 done, 2 usage, 3 login required or code pending, 4 wrong credentials, code or passphrase, 5 provider or
      network unavailable or --timeout over, 6 access denied, 7 vault locked or damaged, 8 broker not reachable, 1
      anything else.
      `authbroker help COMMAND` says more; so does authbroker(1).

      """
    return text
  }

  /// The options of a command with their meanings.
  static func table(_ options: [Option]) -> String {
    rows(options.map { (($0.name + " " + ($0.value ?? "")).trimmingEnd(), $0.meaning) })
  }

  /// Commands with their summaries.
  static func commands(_ commands: [any Command.Type]) -> String {
    rows(commands.map { row($0.description) })
  }

  private static func row(_ command: CommandDescription) -> (left: String, right: String) {
    ((command.name + " " + command.operands).trimmingEnd(), command.summary)
  }

  private static func rows(_ rows: [(left: String, right: String)]) -> String {
    let width = rows.map { $0.left.utf8.count }.max() ?? 0
    return rows.map { "  \($0.left.padded(to: width))  \($0.right)\n" }.joined()
  }
}

extension String {
  /// Filled up with blanks to a number of characters.
  func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

  /// Without blanks at the end.
  func trimmingEnd() -> String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
