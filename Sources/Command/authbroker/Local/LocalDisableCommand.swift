/// `authbroker local disable`.
enum LocalDisableCommand: Command {
  static let name = "local disable"
  /// How the help explains it.
  static let description = CommandDescription(
    name: name, operands: "USER", summary: "Keep an account from logging in, and revoke its sessions",
    details: "Access tokens that were issued before are good until they expire, where no API introspects them.",
    examples: ["authbroker local disable ann@example.com"])

  /// Disables the account.
  static func run(_ context: Context) throws(CommandFailure) {
    try LocalUserSwitch.run(context, isEnabled: false, of: self)
  }
}
