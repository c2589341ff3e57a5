/// `authbroker local`.
enum LocalCommand: CommandGroup {
  static let name = "local"
  static let summary = "Administer the embedded identity provider"
  static let details = """
    For the owner of the state directory; other clients of the broker are refused. USER is an identifier or an e-mail
    address.
    """
  static var members: [CommandEntry] {
    [
      LocalUsersCommand.entry, LocalAddCommand.entry, LocalDisableCommand.entry, LocalEnableCommand.entry,
      LocalResetCommand.entry, LocalDeleteCommand.entry, LocalSessionsCommand.entry, LocalRevokeCommand.entry,
      LocalOutboxCommand.entry, LocalKeySetCommand.entry, LocalRotateKeyCommand.entry, LocalIntrospectCommand.entry,
      LocalAuditCommand.entry,
    ]
  }
}
