import BrokerProtocol
import SecretMemory

/// Asks the person at the terminal for the code that a login waits for.
enum CodePrompt {
  /// A person's answer.
  enum Answer: Equatable {
    /// A one-time code.
    case code(Secret)
    /// A backup code, where one may stand in.
    case backupCode(Secret)
    /// The word for another code.
    case resend
    /// The name of the channel that another code is to go by.
    case resendBy(OTPChallenge.Method)

    /// Tells them from each other.
    init(_ typed: Secret, _ challenge: OTPChallenge) {
      if SecretInput.isWord("r", typed) || SecretInput.isWord("resend", typed) {
        self = .resend
      } else if let channel = challenge.channels.first(where: { SecretInput.isWord($0.rawValue, typed) }) {
        self = .resendBy(channel)
      } else if challenge.backupCodesAllowed, CodeShape(typed).isBackupCode(besideLength: challenge.otpLength) {
        self = .backupCode(typed)
      } else {
        self = .code(typed)
      }
    }
  }

  /// Asks, again after an empty line.
  ///
  /// - Parameters:
  ///   - challenge: what the login waits for.
  ///   - goesOn: whether it goes on waiting for its code where the person leaves.
  /// - Returns: the answer.
  /// - Throws: a failure with code 3 at the end of the input; one that ends the program by the signal of Ctrl-C.
  static func ask(_ challenge: OTPChallenge, goesOn: Bool = true) throws(CommandFailure) -> Answer {
    let question = question(challenge)
    let typed =
      goesOn
      ? try SecretInput.askForCode(question, of: challenge.otpFlowID) : try SecretInput.askForCode(question)
    return Answer(typed, challenge)
  }

  /// An authenticator's code is not sent, so that there is no other.
  static func question(_ challenge: OTPChallenge) -> String {
    let code = challenge.backupCodesAllowed ? "Code or backup code" : "Code"
    let other = challenge.channels.first { $0 != challenge.method }.map { ", \($0.rawValue) sends one there" } ?? ""
    return code + (challenge.method == .totp ? ": " : " (r sends another\(other)): ")
  }
}
