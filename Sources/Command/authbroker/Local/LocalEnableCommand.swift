/// `authbroker local enable`.
enum LocalEnableCommand: Command {
  static let name = "local enable"
  /// How the help explains it.
  static let description = CommandDescription(
    name: name, operands: "USER", summary: "Let a disabled account log in again",
    examples: ["authbroker local enable ann@example.com"])

  /// Enables the account.
  static func run(_ context: Context) throws(CommandFailure) {
    try LocalUserSwitch.run(context, isEnabled: true, of: self)
  }
}
