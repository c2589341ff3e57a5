package import BrokerCore
package import BrokerProtocol
package import SecretMemory
import Synchronization

/// One-time codes and backup codes, each in its ledger.
extension ScriptedProvider: ChallengeProvider, CodeResendingProvider, BackupCodeProvider {
  package nonisolated var dashesOfBackupCodes: TypedCode.Dashes { .removed }

  /// The challenge of every login that wants a code.
  var challenge: ProviderChallenge {
    ProviderChallenge(
      flow: Self.secret("flow"), method: .sms, maskedDestination: "•••67", otpLength: 6,
      expiresAt: clock.now + .seconds(300), nextResendAt: clock.now + .seconds(30), attemptsRemaining: 5)
  }

  package func verifyOTP(flow: Secret, code: Secret) async throws(ProviderFailure) -> ProviderSession {
    state.withLock { $0.codes.append(code.revealedString() ?? "") }
    if let failure = state.withLock({ $0.lostCodes }) { throw failure }
    guard code == Self.secret("123456") else { throw state.withLock { $0.wrongCode } }
    return session
  }

  package func resendOTP(
    flow: Secret, by channel: OTPChallenge.Method?
  ) async throws(ProviderFailure) -> ProviderChallenge {
    let failure = state.withLock { state in
      state.resends += 1
      return state.resendFailure
    }
    if let failure { throw failure }
    return challenge
  }

  package func verifyBackupCode(flow: Secret, code: Secret) async throws(ProviderFailure) -> ProviderSession {
    state.withLock { $0.backupCodes.append(code.revealedString() ?? "") }
    if let failure = state.withLock({ $0.lostCodes }) { throw failure }
    guard code == Self.secret("backup") else { throw .refused(.backupCodeInvalid, attemptsRemaining: 4) }
    var session = session
    session.backupCodesRemaining = 9
    return session
  }
}
