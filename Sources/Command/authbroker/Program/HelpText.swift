/// Lays out the help, in lines that fit a terminal of 80 columns.
enum HelpText {
  /// The longest line.
  static let width = 80
  /// The widest left column; what is longer has its meaning below it.
  private static let widestName = 28

  /// The overview that `authbroker help` prints.
  static var overview: String {
    var text = "usage: authbroker [options] COMMAND [arguments]\n\n" + wrapped(purpose) + "\nCommands:\n"
    text += commands(CommandList.all)
    text += "\nOptions that every command takes:\n" + table(Option.global + [Option.version])
    return text + "\n"
      + wrapped(
        """
        Exit codes: 0 done, 2 usage, 3 login required or code pending, 4 wrong credentials, code or passphrase, 5
        provider or network unavailable or --timeout over, 6 access denied, 7 vault locked or damaged, 8 broker not
        reachable, 126 and 127 as sh(1) (exec), 1 anything else.

        `authbroker help COMMAND` says more; so does authbroker(1).
        """)
  }

  /// The purpose of the program.
  private static let purpose =
    "Keeps login sessions for the programs of this user and hands them fresh access tokens."

  /// The output of bare `authbroker`: the commands that people need first, by what they want.
  static var start: String {
    let lines = groups.map { title, commands in
      "\n\(title):\n"
        + startRows(commands.map { ($0.description.examples.first ?? $0.description.usage, $0.description.summary) })
    }
    let more = startRows([
      ("authbroker help", "All commands, options and exit codes"),
      ("authbroker help COMMAND", "One command, with examples"),
      ("man authbroker", "The manual"),
    ])
    return wrapped(purpose) + lines.joined() + "\nRead on:\n" + more
  }

  /// Lines whose columns agree from group to group.
  private static func startRows(_ rows: [(left: String, right: String)]) -> String { self.rows(rows, column: 23) }

  private static var groups: [(title: String, commands: [CommandEntry])] {
    [
      ("Get an account", [RegisterCommand.entry, InitCommand.entry, LoginCommand.entry]),
      ("Use it", [TokenCommand.entry, HeaderCommand.entry, WatchCommand.entry]),
      ("See how things are", [StatusCommand.entry, WhoamiCommand.entry, ProfilesCommand.entry, DoctorCommand.entry]),
      ("Leave", [LogoutCommand.entry, StopCommand.entry]),
    ]
  }

  /// The options of a command with their meanings.
  static func table(_ options: [Option]) -> String {
    rows(
      options.map { option in
        let short = option.shortName.map { $0 + ", " } ?? ""
        return ((short + option.name + " " + (option.value ?? "")).trimmingEnd(), option.meaning)
      })
  }

  /// Commands with their summaries.
  static func commands(_ commands: [CommandEntry]) -> String {
    rows(commands.map { row($0.description) })
  }

  private static func row(_ command: CommandDescription) -> (left: String, right: String) {
    ((command.name + " " + command.operands).trimmingEnd(), command.summary)
  }

  private static func rows(_ rows: [(left: String, right: String)], column: Int? = nil) -> String {
    let column = column ?? min(rows.map { $0.left.count }.max() ?? 0, widestName)
    let indent = String(repeating: " ", count: column + 4)
    return rows.map { left, right in
      let lines = filled(right, to: width - column - 4)
      let isLong = left.count > column
      let first = isLong ? "  \(left)\n\(indent)" : "  \(left.padded(to: column))  "
      return first + lines.joined(separator: "\n" + indent) + "\n"
    }.joined()
  }

  /// Paragraphs in lines that fit; a line that begins with a blank, or is empty, stays as it is.
  static func wrapped(_ text: String) -> String {
    var (lines, paragraph) = ([String](), [Substring]())
    func end() {
      if !paragraph.isEmpty { lines += filled(paragraph.joined(separator: " "), to: width) }
      paragraph = []
    }
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.isEmpty || line.hasPrefix(" ") {
        end()
        lines.append(String(line))
      } else {
        paragraph.append(line)
      }
    }
    end()
    return lines.joined(separator: "\n") + "\n"
  }

  private static func filled(_ text: String, to width: Int) -> [String] {
    Paragraph(indent: 0, columns: width).lines(text)
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
