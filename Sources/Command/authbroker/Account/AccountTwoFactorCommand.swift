import BrokerProtocol

/// `authbroker account 2fa`.
enum AccountTwoFactorCommand: Command {
  static let name = "account 2fa"
  static let about = CommandDescription(
    operands: "METHOD",
    summary: "Choose the second factor of logins: off, sms, email or totp",
    details: """
      A factor counts once its first code was right: a number or an address that is not proven is sent one. totp is an
      authenticator application: its key is shown as text, and as a QR code where qrencode is installed. Without a
      terminal the key's address is printed, and the command that takes the code is named. The same command again begins
      again: what it named before takes no code any more.
      """,
    options: PasswordSource.options,
    operandCompletion: .words(LocalUser.SecondFactor.allCases.map { $0.rawValue }),
    examples: ["authbroker account 2fa totp", "authbroker account 2fa off"])

  /// Has the provider change the factor, and enrols an authenticator where that is it.
  static func run(_ context: Context) throws(CommandFailure) {
    let factor = try factor(context.arguments.operands[0])
    let profile = try context.profile()
    var dialogue = LoginDialogue(context, try context.connect())
    let change = ProfileChanges.Change("twoFactor", factor.rawValue)
    let params = UpdateProfile.Params(profile: profile, changes: ProfileChanges([change]))
    let result = try dialogue.change(UpdateProfile.self, params, of: profile)
    if context.wantsJSON { context.printJSON(result) }
    if let enrolment = result.enrolment {
      do throws(CommandFailure) { try FactorConfirmation.confirm(enrolment, of: profile, &dialogue) } catch {
        throw error.behindResult()
      }
    }
    guard !context.wantsJSON else { return }
    context.tell(factor == .off ? withoutFactor(profile) : Message("logins ask for a second factor: \(factor.words)"))
  }

  /// No provider knows how long the password is, which may have been chosen beside a second factor.
  private static func withoutFactor(_ profile: ProfileName?) -> Message {
    Message(
      "logins ask for no second factor; a password alone should have at least "
        + "\(PasswordLength.fewestCharacters) characters",
      next: NextCommand("change it with", "account", "password").on(profile))
  }

  private static func factor(_ name: String) throws(CommandFailure) -> LocalUser.SecondFactor {
    if let factor = LocalUser.SecondFactor(rawValue: name) { return factor }
    let names = LocalUser.SecondFactor.allCases.map { $0.rawValue }
    throw .unknown(
      "second factor", name, likely: Spelling.nearest(to: name, among: names), choices: "off, sms, email or totp")
  }
}

extension LocalUser.SecondFactor {
  /// The factor as people call it.
  var words: String {
    switch self {
    case .off: "none"
    case .sms: "a code by SMS"
    case .email: "a code by e-mail"
    case .totp: "a code of the authenticator"
    }
  }
}
