/// `authbroker local`.
enum LocalCommand: CommandGroup {
  static let name = "local"
  static let summary = "Administer the embedded identity provider"
  static let details = """
    For the owner of the state directory; other clients of the broker are refused. USER is an identifier or an e-mail
    address.
    """
  static var members: [any Command.Type] {
    [
      LocalUsersCommand.self, LocalAddCommand.self, LocalDisableCommand.self, LocalEnableCommand.self,
      LocalSessionsCommand.self, LocalRevokeCommand.self, LocalOutboxCommand.self, LocalKeySetCommand.self,
      LocalRotateKeyCommand.self, LocalIntrospectCommand.self, LocalAuditCommand.self,
    ]
  }
}
