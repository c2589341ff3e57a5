import BrokerProtocol

/// All commands, in the order of the help: first what is typed, or run by scripts, most.
enum CommandList {
  /// The commands.
  static var all: [CommandEntry] {
    [
      TokenCommand.entry, HeaderCommand.entry, ExecCommand.entry, FileCommand.entry, LoginCommand.entry,
      VerifyOTPCommand.entry, CancelCommand.entry, ReauthenticateCommand.entry, RegisterCommand.entry,
      InitCommand.entry, StatusCommand.entry, WhoamiCommand.entry, ProfilesCommand.entry, ProfileCommand.entry,
      SessionsCommand.entry, LogoutCommand.entry, LockCommand.entry, UnlockCommand.entry, RekeyCommand.entry,
      AccountCommand.entry, LocalCommand.entry, TargetCommand.entry, HelperCommand.entry, DoctorCommand.entry,
      ProviderCheckCommand.entry, WatchCommand.entry, CallCommand.entry, ServeCommand.entry, ConnectCommand.entry,
      ReloadCommand.entry, StopCommand.entry, SockpathCommand.entry, ConfigCommand.entry, DemoCommand.entry,
      CompletionCommand.entry, VersionCommand.entry, HelpCommand.entry,
    ]
  }

  /// The same, and behind each group its members.
  static var withMembers: [CommandEntry] {
    all.flatMap { command -> [CommandEntry] in
      [command] + (command.group ?? [])
    }
  }

  /// Those that programs call, and no list shows.
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
