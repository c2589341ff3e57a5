package import BrokerCore
package import BrokerProtocol
package import SecretMemory
import Synchronization

/// Second factors that are enrolled, and backup codes that are made.
extension ScriptedProvider: FactorEnrolmentProvider, BackupCodeIssuer {
  /// Lets every change of an account begin an enrolment with so many attempts; nil: none does.
  package nonisolated func setEnrols(attempts: Int?) { state.withLock { $0.enrolmentAttempts = attempts } }

  /// Decides how every first code ends; nil lets the right one succeed.
  package nonisolated func setEnrolmentFailure(_ failure: ProviderFailure?) {
    state.withLock { $0.enrolmentFailure = failure }
  }

  /// The enrolment that a change begins.
  var enrolment: ProviderEnrolment? {
    state.withLock { $0.enrolmentAttempts }.map { attempts in
      ProviderEnrolment(
        flow: Self.secret("enrolment"), uri: Self.secret("otpauth://totp/a?secret=ABC"),
        expiresAt: clock.now + .seconds(600), otpLength: 6, attemptsRemaining: attempts)
    }
  }

  package func confirmEnrolment(flow: Secret, code: Secret) async throws(ProviderFailure) -> User {
    state.withLock { $0.codes.append("\(flow.revealedString() ?? "") \(code.revealedString() ?? "")") }
    if let failure = state.withLock({ $0.enrolmentFailure }) { throw failure }
    guard code == Self.secret("123456") else { throw .refused(.otpInvalid) }
    return changedUser
  }

  package func generateBackupCodes(password: Secret, accessToken: BoundToken) async throws(ProviderFailure) -> [Secret]
  {
    try note("generateBackupCodes", accessToken)
    guard password == Self.secret("right") else { throw .refused(.invalidCredentials) }
    return [Self.secret("backup-1"), Self.secret("backup-2")]
  }
}
