import BrokerProtocol
import SecretMemory

/// Takes the first code of a second factor, which counts from then on.
enum FactorConfirmation {
  /// Shows where the code comes from, and asks for codes until one is right.
  ///
  /// - Throws: a failure with code 3 where no person can be asked for the code.
  static func confirm(
    _ enrolment: FactorEnrolment, of profile: ProfileName?, _ dialogue: inout LoginDialogue
  ) throws(CommandFailure) {
    if let address = enrolment.otpauthURI {
      return try AuthenticatorEnrolment(enrolment, address).confirm(&dialogue)
    }
    dialogue.tell(
      OTPChallenge(
        otpFlowID: enrolment.otpFlowID, profile: try dialogue.session(of: profile).profile, method: enrolment.method,
        maskedDestination: enrolment.maskedDestination ?? "", otpLength: enrolment.otpLength,
        expiresAt: enrolment.expiresAt, nextResendAt: enrolment.expiresAt, attemptsRemaining: 0,
        backupCodesAllowed: false))
    guard dialogue.context.canAsk else {
      throw CommandFailure(
        .loginRequired, "the second factor counts once that code is right; the same command again sends another",
        next: NextCommand("give it with", "verify-otp", enrolment.otpFlowID, "--code-stdin"))
    }
    _ = try ask(for: enrolment.otpFlowID, "Code: ", &dialogue)
  }

  /// Asks for codes until one is right.
  static func ask(
    for flow: String, _ question: String, _ dialogue: inout LoginDialogue
  ) throws(CommandFailure) -> LoginResult {
    try ask(for: flow, &dialogue) { () throws(CommandFailure) in try SecretInput.askForCode(question) }
  }

  /// As the other form, with a question of the caller's own.
  static func ask(
    for flow: String, _ dialogue: inout LoginDialogue, _ askForCode: () throws(CommandFailure) -> Secret
  ) throws(CommandFailure) -> LoginResult {
    while true {
      let code = try askForCode()
      do throws(CommandFailure) { return try dialogue.verify(code, of: flow) } catch {
        guard error.error?.kind == .otpInvalid else { throw error }
        dialogue.context.tell(error.message)
      }
    }
  }
}
