import BrokerProtocol

/// `authbroker account email`.
enum AccountEmailCommand: Command {
  static let name = "account email"
  static let about = CommandDescription(
    operands: "ADDRESS",
    summary: "Change the e-mail address of the account",
    details: """
      The provider may send a token to the new address, which `authbroker account verify-email` takes; the account may
      keep the old one until then.
      """,
    options: PasswordSource.options,
    examples: ["authbroker account email new@example.com"])

  /// Checks the address before anything is sent, and prints the account as it is then.
  static func run(_ context: Context) throws(CommandFailure) {
    let address = context.arguments.operands[0]
    guard RefusedFields.isAddress(address) else {
      throw CommandFailure(.usage, RefusedFields.notAnAddress(address))
    }
    let profile = try context.profile()
    var dialogue = LoginDialogue(context, try context.connect())
    let params = UpdateProfile.Params(profile: profile, changes: ProfileChanges([.init("email", address)]))
    let result = try dialogue.change(UpdateProfile.self, params, of: profile)
    guard !context.wantsJSON else { return context.printJSON(result) }
    AccountLines.print(result.user)
    let isWaiting = result.user.email.map { $0.lowercased() != address.lowercased() } ?? false
    guard isWaiting || result.user.emailVerified == false else { return }
    let state = isWaiting ? "the new address counts once it is verified" : "the address is not verified yet"
    let next = NextCommand("where a token was sent to it, enter that with", "account", "verify-email").on(profile)
    context.tell(Message(state, next: next))
    OutboxNotice.tellOfToken(profile, &dialogue)
  }
}
