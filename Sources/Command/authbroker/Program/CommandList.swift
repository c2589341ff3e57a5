import BrokerProtocol

/// All commands, in the order of the help: those that are typed, or run by scripts, most come first.
enum CommandList {
  /// The commands.
  static var all: [CommandEntry] {
    [
      TokenCommand.entry, HeaderCommand.entry, ExecCommand.entry, FileCommand.entry, RequestCommand.entry,
      QueueCommand.entry, DoorCommand.entry, SandboxCommand.entry,
      LoginCommand.entry,
      VerifyOTPCommand.entry, CancelCommand.entry, ReauthenticateCommand.entry, RegisterCommand.entry,
      ImportCommand.entry, InitCommand.entry, StatusCommand.entry, WhoamiCommand.entry, ProfilesCommand.entry,
      ProfileCommand.entry,
      SessionsCommand.entry, LogoutCommand.entry, LockCommand.entry, UnlockCommand.entry, RekeyCommand.entry,
      AccountCommand.entry, LocalCommand.entry, AccessCommand.entry, ConsentCommand.entry, AuditCommand.entry,
      SocketCommand.entry, TargetCommand.entry, HelperCommand.entry, DoctorCommand.entry,
      ProviderCheckCommand.entry, WatchCommand.entry, CallCommand.entry, ServeCommand.entry, ConnectCommand.entry,
      ReloadCommand.entry, StopCommand.entry, SockpathCommand.entry, FleetCommand.entry, ConfigCommand.entry,
      DemoCommand.entry,
      CompletionCommand.entry, VersionCommand.entry, HelpCommand.entry,
    ]
  }

  /// The same, and behind each group its members.
  static var withMembers: [CommandEntry] {
    all.flatMap { command -> [CommandEntry] in
      [command] + (command.group ?? [])
    }
  }

  /// The commands whose connections show that they have the state directory, with all members of a group: who administers, and who
  /// looks at what is for administrators.
  private static let administrative: Set<String> = [
    LoginCommand.name, VerifyOTPCommand.name, CancelCommand.name, ReauthenticateCommand.name, RegisterCommand.name,
    ImportCommand.name, AccountCommand.name, LogoutCommand.name, StatusCommand.name, SessionsCommand.name,
    ProfilesCommand.name,
    WatchCommand.name, DoctorCommand.name, AccessCommand.name, AuditCommand.name, LocalCommand.name,
    ProviderCheckCommand.name,
    InitCommand.name,
    LockCommand.name, RekeyCommand.name, ReloadCommand.name, StopCommand.name, SocketCommand.name,
    ConsentCommand.name,
  ]

  /// Whether the connections of a command show that it has the state directory.
  static func isAdministrative(_ name: String) -> Bool {
    // What hands out tokens never does, and runs most often: it is judged as the process that it is.
    switch name {
    case TokenCommand.name, HeaderCommand.name, ExecCommand.name, FileCommand.name: return false
    case _ where name.hasPrefix(HelperCommand.name): return false
    default: break
    }
    return administrative.contains(String(name.prefix { $0 != " " }))
  }

  /// The commands that programs call, and no list shows.
  static var hidden: [CommandEntry] { [CompleteCommand.entry] }

  /// Finds a command.
  ///
  /// - Throws: a usage failure with a suggestion.
  static func command(named name: String) throws(CommandFailure) -> CommandEntry {
    if let command = (all + hidden).first(where: { $0.name == name }) { return command }
    let likely = Spelling.nearest(to: name, among: all.map { $0.name })
    throw CommandFailure.unknown("command", name, likely: likely).namingHelp(of: nil)
  }
}
