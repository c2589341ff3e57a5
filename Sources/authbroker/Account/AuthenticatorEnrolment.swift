import BrokerProtocol
import LinuxSystem
import SecretMemory

/// Gives the key of a second factor to an authenticator application, and its first code to the broker.
struct AuthenticatorEnrolment {
  private let enrolment: FactorEnrolment

  /// An enrolment that a provider has begun.
  init(_ enrolment: FactorEnrolment) { self.enrolment = enrolment }

  /// Shows the key, and asks for codes until one is right.
  ///
  /// - Throws: a failure with code 3 where no person can be asked for the code; the key was printed then.
  func confirm(_ dialogue: inout LoginDialogue) throws(CommandFailure) {
    guard dialogue.context.canAsk else {
      if !dialogue.context.wantsJSON { Output.line(enrolment.otpauthURI) }
      throw CommandFailure(
        .loginRequired, "the authenticator's first code is wanted; \(expiry)",
        next: NextCommand("give it with", "verify-otp", enrolment.otpFlowID, "--code-stdin"))
    }
    show(dialogue.context)
    while true {
      let code = try SecretInput.askForCode("Code of the authenticator: ")
      do throws(CommandFailure) {
        _ = try dialogue.call(VerifyOTP.self, .init(otpFlowID: enrolment.otpFlowID, code: code))
        return
      } catch {
        guard error.error?.kind == .otpInvalid else { throw error }
        dialogue.context.tell(error.message)
      }
    }
  }

  private var expiry: String { "the key expires \(LocalTime.relative(enrolment.expiresAt)) without it" }

  /// Shows the key on the terminal, not on standard output, which may go to a file.
  private func show(_ context: Context) {
    if Terminal.isTerminal(2), let code = enrolment.otpauthURI.withBytes({ QRCode($0) }) {
      let lines = QRPicture.lines(code, isColoured: context.style.isEnabled)
      Output.progress(lines.joined(separator: "\n") + "\n")
    }
    let text = enrolment.otpauthURI.revealedString() ?? ""
    Output.message("scan this code with an authenticator application, or enter the key: " + Self.key(of: text))
    Output.message("then enter the code that it shows; \(expiry)")
  }

  /// The parameter `secret` of an `otpauth://` address in groups of four characters, as people type it.
  static func key(of address: String) -> String {
    let parameters = address.split(separator: "?").last?.split(separator: "&") ?? []
    let secret = parameters.first { $0.hasPrefix("secret=") }?.dropFirst("secret=".count) ?? ""
    return stride(from: 0, to: secret.count, by: 4).map { secret.dropFirst($0).prefix(4) }.joined(separator: " ")
  }
}
