import BrokerProtocol
import SecretMemory

/// Gives the key of a second factor to an authenticator application, and its first code to the broker.
struct AuthenticatorEnrolment {
  private let enrolment: FactorEnrolment
  private let address: Secret

  /// An enrolment that a provider has begun, and the address that has the key.
  init(_ enrolment: FactorEnrolment, _ address: Secret) {
    self.enrolment = enrolment
    self.address = address
  }

  /// Shows the key, and asks for codes until one is right.
  ///
  /// - Throws: a failure with code 3 where no person can be asked for the code; the key was printed then.
  func confirm(_ dialogue: inout LoginDialogue) throws(CommandFailure) {
    guard dialogue.context.canAsk else {
      if !dialogue.context.wantsJSON { Output.line(address) }
      throw CommandFailure(
        .loginRequired, "the authenticator's first code is wanted; \(expiry)",
        next: NextCommand("give it with", "verify-otp", enrolment.otpFlowID, "--code-stdin"))
    }
    show(dialogue.context)
    _ = try FactorConfirmation.ask(for: enrolment.otpFlowID, "Code of the authenticator: ", &dialogue)
  }

  private var expiry: String { "the key expires \(LocalTime.relative(enrolment.expiresAt)) without it" }

  /// Shows the key on the terminal, not on standard output, which may go to a file.
  private func show(_ context: Context) {
    let isDrawn = address.withBytes { QRPicture.draw($0, context) }
    let request =
      isDrawn
      ? "scan this code with an authenticator application, or enter the key"
      : "enter this key in an authenticator application"
    Output.message("\(request): \(Self.key(of: address.revealedString() ?? ""))")
    Output.message("then enter the code that it shows; \(expiry)")
  }

  /// The parameter `secret` of an `otpauth://` address in groups of four characters, as people type it.
  static func key(of address: String) -> String {
    let parameters = address.split(separator: "?").last?.split(separator: "&") ?? []
    let secret = parameters.first { $0.hasPrefix("secret=") }?.dropFirst("secret=".count) ?? ""
    return stride(from: 0, to: secret.count, by: 4).map { secret.dropFirst($0).prefix(4) }.joined(separator: " ")
  }
}
