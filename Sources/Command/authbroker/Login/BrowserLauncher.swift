import LinuxSystem

/// Opens the address of a login in the browser of the person at the terminal.
///
/// The address has been shown before, and nothing depends on the browser: it is not waited for, and what it says is
/// not shown. It gets no descriptor of this program, and of the environment only what names the user and the desktop.
struct BrowserLauncher {
  /// The option that forbids it.
  static let option = Option.flag("--no-browser", "open no browser, only show the address")

  /// The program that opens an address with the desktop's browser (xdg-open(1)).
  private static let opener = "xdg-open"

  /// The variables that a browser and the desktop around it read; any other one may hold a secret.
  private static let variables: Set = [
    "BROWSER", "DBUS_SESSION_BUS_ADDRESS", "DESKTOP_SESSION", "DISPLAY", "HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH",
    "SHELL", "TERM", "TMPDIR", "TZ", "USER", "WAYLAND_DISPLAY", "XAUTHORITY",
  ]
  /// The prefixes of further ones: languages, desktops, and editors that run the browser elsewhere.
  private static let prefixes = [
    "GDK_", "GNOME_", "GTK_", "KDE_", "LC_", "MATE_", "MOZ_", "QT_", "VSCODE_IPC_", "WSL_", "XDG_",
  ]

  private let context: Context

  /// A launcher for the command that runs.
  init(_ context: Context) { self.context = context }

  /// Opens an address where a person waits at a terminal, and says so; where no browser can be started, says that.
  ///
  /// Nothing happens with `--no-browser`, `--no-wait` and `--json`, without a display and `BROWSER`, and for an address
  /// that is not one of the web.
  func open(_ address: String) {
    guard isWanted, Self.isWebAddress(address) else { return }
    for command in commands(for: address) where start(command) {
      return Output.notice("opening it in your browser")
    }
    Output.message("no browser could be started; open the address yourself, or name a browser in BROWSER")
  }

  /// Whether a browser may appear.
  ///
  /// A login over ssh(1) can have a display, which is at another place: there, only what the user has chosen is started.
  private var isWanted: Bool {
    let hindrances = [Self.option.name, "--no-wait", "--json"]
    guard !hindrances.contains(where: context.arguments.has), context.canAsk, Terminal.isTerminal(2) else {
      return false
    }
    return hasBrowser
  }

  /// Whether the environment names a browser, or a display of this computer that one could appear on.
  var hasBrowser: Bool {
    let hasDisplay = has("DISPLAY") || has("WAYLAND_DISPLAY")
    return has("BROWSER") || (hasDisplay && !has("SSH_CONNECTION"))
  }

  private func has(_ name: String) -> Bool { !(context.environment[name] ?? "").isEmpty }

  /// Whether an address is one of the web, and can be nothing else to the program that gets it: no option, no file.
  private static func isWebAddress(_ address: String) -> Bool {
    guard address.hasPrefix("https://") || address.hasPrefix("http://") else { return false }
    return address.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  /// The commands to try, in order, each as words.
  ///
  /// `BROWSER` is a list, separated by colons, of commands whose words are separated by blanks; `%s` stands for the
  /// address, which else is the last word (xdg-open(1)). No shell reads any of it.
  private func commands(for address: String) -> [[String]] {
    guard has("BROWSER"), let list = context.environment["BROWSER"] else { return [[Self.opener, address]] }
    return list.split(separator: ":").map { command in
      let words = command.split(separator: " ").map(String.init)
      let filled = words.map { Self.filled($0, with: address) }
      return filled == words ? words + [address] : filled
    }
  }

  /// A word with the address in the place of each `%s`.
  private static func filled(_ word: String, with address: String) -> String {
    var (filled, rest) = ("", word[...])
    while let mark = rest.indices.first(where: { rest[$0...].hasPrefix("%s") }) {
      filled += String(rest[..<mark]) + address
      rest = rest[mark...].dropFirst(2)
    }
    return filled + rest
  }

  /// - Returns: false where it cannot be started.
  private func start(_ command: [String]) -> Bool {
    guard let name = command.first, let path = SearchPath.program(name, context.environment.all),
      let null = try? FileDescriptor.open("/dev/null", .readWrite)
    else { return false }
    var plan = ChildProcess.Plan(path: path, arguments: Array(command.dropFirst()), environment: environment)
    plan.descriptors = [(null.number, 0), (null.number, 1), (null.number, 2)]
    // Ctrl-C at this terminal is for the login, and the browser outlives it.
    plan.newSession = true
    return (try? ChildProcess(plan)) != nil
  }

  private var environment: [String: String] {
    context.environment.all.filter { name, _ in
      Self.variables.contains(name) || Self.prefixes.contains { name.hasPrefix($0) }
    }
  }
}
