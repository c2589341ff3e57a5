/// `authbroker account`.
enum AccountCommand: CommandGroup {
  static let name = "account"
  static let summary = "Manage the account of a profile at its provider"
  static let details = """
    Each of these needs a provider that offers it: `authbroker provider-check` lists what it does. Where the user must
    have authenticated lately, a terminal asks for the password, and --password-stdin and --password-command give it.
    """
  static var members: [CommandEntry] {
    [
      AccountShowCommand.entry, AccountUpdateCommand.entry, AccountEmailCommand.entry, AccountPasswordCommand.entry,
      AccountTwoFactorCommand.entry, AccountBackupCodesCommand.entry, AccountForgotCommand.entry,
      AccountResetCommand.entry, AccountVerifyEmailCommand.entry, AccountDeleteCommand.entry,
    ]
  }
}
