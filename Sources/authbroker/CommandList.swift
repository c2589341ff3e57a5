import BrokerProtocol

/// All commands, in the order of the help: first what is typed, or run by scripts, most.
enum CommandList {
  /// The commands.
  static var all: [any Command.Type] {
    [
      TokenCommand.self, HeaderCommand.self, ExecCommand.self, FileCommand.self, LoginCommand.self,
      VerifyOTPCommand.self, RegisterCommand.self, InitCommand.self, StatusCommand.self, WhoamiCommand.self,
      ProfilesCommand.self, SessionsCommand.self, LogoutCommand.self, LockCommand.self, UnlockCommand.self,
      RekeyCommand.self, AccountCommand.self, LocalCommand.self, HelperCommand.self, DoctorCommand.self,
      ProviderCheckCommand.self, WatchCommand.self, CallCommand.self, ServeCommand.self, ConnectCommand.self,
      StopCommand.self, SockpathCommand.self, ConfigCommand.self, DemoCommand.self, CompletionCommand.self,
      VersionCommand.self, HelpCommand.self,
    ]
  }

  /// The same, and behind each group its members.
  static var withMembers: [any Command.Type] {
    all.flatMap { command -> [any Command.Type] in
      [command] + (command.group?.members ?? [])
    }
  }

  /// Those that programs call, and no list shows.
  static var hidden: [any Command.Type] { [CompleteCommand.self] }

  /// Finds a command.
  ///
  /// - Throws: a usage failure with a suggestion.
  static func command(named name: String) throws(CommandFailure) -> any Command.Type {
    if let command = (all + hidden).first(where: { $0.name == name }) { return command }
    let likely = Spelling.nearest(to: name, among: all.map { $0.name })
    throw CommandFailure.unknown("command", name, likely: likely).namingHelp(of: nil)
  }
}
