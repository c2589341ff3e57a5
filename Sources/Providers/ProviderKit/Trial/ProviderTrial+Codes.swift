package import BrokerCore
package import BrokerProtocol

/// Logins that want a one-time code.
extension ProviderTrial {
  /// Asks with the code, or for another one as soon as the provider allows that.
  package mutating func enter(_ answer: TrialCodeAnswer, at now: Timestamp) -> [ProviderFinding] {
    guard case .awaitCode(let challenge) = order else { return [] }
    if let obstacle = obstacle(answer, challenge, now) { return [finding(.login, .note, obstacle)] }
    self.challenge = challenge
    switch answer {
    case .code(let code): order = .ask(.verify(flow: challenge.flow, code: code))
    case .backupCode(let code): order = .ask(.verifyBackupCode(flow: challenge.flow, code: code))
    case .another: order = .ask(.resend(flow: challenge.flow))
    }
    return []
  }

  private func obstacle(
    _ answer: TrialCodeAnswer, _ challenge: ProviderChallenge, _ now: Timestamp
  ) -> String? {
    switch answer {
    case .code: nil
    case .backupCode:
      subject.abilities.contains(.verifyBackupCode) ? nil : "The provider does not support backup codes."
    case .another where !subject.abilities.contains(.resendOtp): "The provider cannot send another code."
    case .another: now < challenge.nextResendAt ? "Another code cannot be sent before \(challenge.nextResendAt)." : nil
    }
  }

  /// Judges the session that a code or a user action has brought.
  mutating func judgeSession(_ result: Result<ProviderSession, ProviderFailure>) -> [ProviderFinding] {
    switch result {
    case .success(let session): return begun(session)
    case .failure(.refused(let kind, let left, _, _)) where kind == .otpInvalid || kind == .backupCodeInvalid:
      guard var challenge, left != 0 else { break }
      challenge.attemptsRemaining = left ?? (challenge.attemptsRemaining - 1)
      guard challenge.attemptsRemaining > 0 else { break }
      order = .awaitCode(challenge)
      let count = challenge.attemptsRemaining == 1 ? "1 attempt" : "\(challenge.attemptsRemaining) attempts"
      return [finding(.login, .note, "The code is wrong; \(count) left.")]
    case .failure: break
    }
    guard case .failure(let failure) = result else { return [] }
    return [notBegun(failure)]
  }

  /// Judges a resend; where no other code was sent, the last one is still good, unless the provider says otherwise.
  mutating func judgeResend(_ result: Result<ProviderChallenge, ProviderFailure>) -> [ProviderFinding] {
    switch result {
    case .success(let fresh):
      order = .awaitCode(fresh)
      return [finding(.login, .note, "Another code was sent.")]
    case .failure(.refused(.flowNotFound, _, _, _)), .failure(.refused(.otpExpired, _, _, _)): break
    case .failure(let failure):
      guard let challenge else { break }
      order = .awaitCode(challenge)
      return [finding(.login, .note, "Another code could not be sent. \(failure.kind.message)")]
    }
    guard case .failure(let failure) = result else { return [] }
    return [notBegun(failure)]
  }
}
