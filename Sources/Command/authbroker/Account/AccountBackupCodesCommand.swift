import BrokerProtocol

/// `authbroker account backup-codes`.
enum AccountBackupCodesCommand: Command {
  static let name = "account backup-codes"
  /// How the help explains it.
  static let description = CommandDescription(
    name: name,
    summary: "Make new backup codes, which replace a one-time code once each",
    details: "Asks for the password. The codes are printed once; those that were made before are void.",
    options: PasswordSource.options,
    examples: ["authbroker account backup-codes"])

  /// Asks for the password, and prints the codes on standard output.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    let profile = try context.profile()
    var dialogue = LoginDialogue(context, try context.connect())
    try dialogue.expectAbility(GenerateBackupCodes.self, of: profile)
    try dialogue.expectLogin(of: profile)
    let result = try PasswordTries.repeated(context) { password throws(CommandFailure) in
      try dialogue.change(GenerateBackupCodes.self, .init(profile: profile, password: password), of: profile)
    }
    guard !context.wantsJSON else { return context.printJSON(result) }
    for code in result.backupCodes { Output.line(code) }
    Output.message(
      "keep these codes where you find them without your telephone: each replaces one code, and they are never shown "
        + "again")
  }
}
