package import BrokerCore
import SecretMemory
import Synchronization

/// Everything but the verification of e-mail addresses.
extension ScriptedProvider: ClientSessionProvider, RevocationProvider {
  package nonisolated var capabilities: ProviderCapabilities {
    var capabilities = ProviderCapabilities()
    capabilities.registration = self
    capabilities.forgottenPassword = self
    capabilities.passwordReset = self
    capabilities.userInfo = self
    capabilities.profileUpdate = self
    capabilities.passwordChange = self
    capabilities.accountDeletion = self
    capabilities.challenges = self
    capabilities.codeResending = self
    capabilities.backupCodes = self
    capabilities.backupCodeIssuing = self
    capabilities.factorEnrolment = self
    capabilities.deviceLogin = self
    capabilities.browserLogin = self
    capabilities.clientSessions = self
    if state.withLock({ $0.grant != nil }) { capabilities.grant = self }
    capabilities.targets = self
    capabilities.revocation = self
    if state.withLock({ $0.key != nil }) { capabilities.proofs = self }
    return capabilities
  }

  package nonisolated func areClientsOwn(_ tokens: TokenSet) -> Bool { state.withLock { $0.isClientsOwn } }

  package nonisolated var habit: RevocationHabit? { state.withLock { $0.habit } }

  package func revoke(_ tokens: TokenSet, everywhere: Bool) async throws(ProviderFailure) {
    try state.withLock { state throws(ProviderFailure) in
      let token = tokens.refreshToken?.value.revealedString() ?? ""
      state.revoked.append(Revocation(token: token, everywhere: everywhere))
      if let failure = state.revocationFailure { throw failure }
    }
  }
}
