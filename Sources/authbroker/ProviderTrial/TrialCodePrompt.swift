import BrokerProtocol
import SecretMemory

/// Asks the person at the terminal for the code that a trial waits for.
enum TrialCodePrompt {
  /// What a person has typed.
  enum Answer: Equatable {
    /// A code.
    case code
    /// The word for another code.
    case resend
    /// The word for a backup code, where one may stand in.
    case backup

    /// Tells a word from a code.
    init(_ typed: Secret, _ challenge: OTPChallenge) {
      if SecretInput.isWord("resend", typed) {
        self = .resend
      } else if challenge.backupCodesAllowed, SecretInput.isWord("backup", typed) {
        self = .backup
      } else {
        self = .code
      }
    }
  }

  /// Asks, and puts the answer into the next question to the broker.
  ///
  /// - Throws: a failure if the person interrupts.
  static func ask(_ challenge: OTPChallenge, _ params: inout ContinueTrial.Params) throws(CommandFailure) {
    let typed = try SecretInput.askForCode("Code (or resend\(challenge.backupCodesAllowed ? ", or backup" : "")): ")
    switch Answer(typed, challenge) {
    case .code: params.code = typed
    case .resend: params.resends = true
    case .backup: params.backupCode = try SecretInput.askForCode("Backup code: ")
    }
  }
}
