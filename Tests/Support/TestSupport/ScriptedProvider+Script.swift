package import BrokerCore
package import BrokerProtocol
import SecretMemory
import Synchronization

/// How a test decides what the provider does, and sees what it was asked.
extension ScriptedProvider {
  /// Decides how refreshes end from now on.
  package nonisolated func setRefresh(_ refresh: Refresh) { state.withLock { $0.refresh = refresh } }

  /// Decides how questions for tokens of other targets end from now on; nil means that there are none.
  package nonisolated func setTargetAnswer(_ answer: Refresh?) { state.withLock { $0.targetAnswer = answer } }

  /// Decides which client the next tokens are issued to; nil: that of the configuration.
  package nonisolated func setClient(_ client: TokenClient?) { state.withLock { $0.client = client } }

  /// The targets that were asked for, in order.
  package nonisolated var askedTargets: [TokenTarget] { state.withLock { $0.targets } }

  /// Decides how people log in from now on.
  package nonisolated func setLoginMethods(_ methods: [LoginMethod]) { state.withLock { $0.methods = methods } }

  /// How long a user may take for what is asked of them.
  package nonisolated func setActionLifetime(_ lifetime: Duration) { state.withLock { $0.actionLifetime = lifetime } }

  /// Decides what the next questions whether the user is done are answered with; after the last, that they are not.
  package nonisolated func setPolls(_ polls: [Poll]) { state.withLock { $0.polls = polls } }

  /// How often that was asked.
  package nonisolated var pollCount: Int { state.withLock { $0.pollCount } }

  /// How many browsers are waited for.
  package nonisolated var listenerCount: Int { state.withLock { $0.redirects.count } }

  /// Lets a browser come back.
  package nonisolated func redirect(_ redirect: Redirect = .done) {
    let gates = state.withLock { state in
      state.redirect = redirect
      return state.redirects
    }
    for gate in gates { gate.open() }
  }

  /// What logins were begun with, in order.
  package nonisolated var logins: [String] { state.withLock { $0.logins } }

  /// The codes that were asked about, in order.
  package nonisolated var codes: [String] { state.withLock { $0.codes } }

  /// The backup codes that were asked about, in order.
  package nonisolated var backupCodes: [String] { state.withLock { $0.backupCodes } }

  /// Decides how every login ends; nil lets the right credentials succeed.
  package nonisolated func setLoginFailure(_ failure: ProviderFailure?) { state.withLock { $0.loginFailure = failure } }

  /// Decides how every code and backup code ends; nil lets the right one succeed.
  package nonisolated func setCodeFailure(_ failure: ProviderFailure?) { state.withLock { $0.lostCodes = failure } }

  /// Ends sessions at the provider: a refresh with one of these refresh tokens is refused.
  package nonisolated func end(refreshTokens: String...) {
    state.withLock { $0.endedTokens.formUnion(refreshTokens) }
  }

  /// Lets sessions come without a refresh token from now on.
  package nonisolated func setComesWithoutRefreshToken(_ without: Bool) {
    state.withLock { $0.comesWithoutRefreshToken = without }
  }

  /// Decides how a wrong code is refused.
  package nonisolated func setWrongCode(_ failure: ProviderFailure) { state.withLock { $0.wrongCode = failure } }

  /// Decides how another code is refused; nil lets it be sent.
  package nonisolated func setResendFailure(_ failure: ProviderFailure?) {
    state.withLock { $0.resendFailure = failure }
  }

  /// Lets the end of one session be the end of all of its user's.
  package nonisolated func setRevokesWholeGrants() { setHabit(.grant) }

  /// Decides what is known of what ends with a revoked token.
  package nonisolated func setHabit(_ habit: RevocationHabit?) { state.withLock { $0.habit = habit } }

  /// How often another code was wanted.
  package nonisolated var resends: Int { state.withLock { $0.resends } }

  /// Decides who logs in from now on, and whether their session says so.
  package nonisolated func setUser(_ id: String, isNamed: Bool = true) {
    state.withLock { state in
      state.userID = id
      state.namesUser = isNamed
    }
  }

  /// Lets logins ask for a code.
  package nonisolated func setWantsCode(_ wantsCode: Bool) { state.withLock { $0.wantsCode = wantsCode } }

  /// Refuses an access token in everything that needs one.
  package nonisolated func refuse(accessToken: String) {
    state.withLock { $0.refusedTokens.append(Self.secret(accessToken)) }
  }

  /// Decides how everything that concerns the account ends; nil lets it succeed.
  package nonisolated func setAccountFailure(_ failure: ProviderFailure?) {
    state.withLock { $0.accountFailure = failure }
  }

  /// Decides what a probe finds.
  package nonisolated func setProbe(_ probe: ProviderProbe) { state.withLock { $0.probe = probe } }

  /// Puts the provider's clock ahead of the test's by so much; nil lets it not say the time.
  package nonisolated func setClockSkew(_ skew: Duration?) { state.withLock { $0.clockSkew = skew } }

  /// How many calls wait for ``release()``.
  package nonisolated var waitingCalls: Int { gate.waiting }

  /// Lets a changed password come with new tokens.
  package nonisolated func setGivesNewTokens(_ newTokens: Bool) { state.withLock { $0.newTokens = newTokens } }

  /// What was done with the account, in order.
  package nonisolated var accountCalls: [String] { state.withLock { $0.accountCalls } }

  /// Makes refreshes wait until ``release()``.
  package nonisolated func hold() { gate.shut() }

  /// Whether refreshes wait.
  package nonisolated var isHolding: Bool { gate.isShut }

  /// Lets refreshes go on.
  package nonisolated func release() { gate.open() }

  /// The refresh tokens that were spent, in order.
  package nonisolated var spentTokens: [String] { state.withLock { $0.spent } }

  /// How many revocations it was asked for.
  package nonisolated var revocations: Int { state.withLock { $0.revoked.count } }

  /// The revocations that it was asked for, in order.
  package nonisolated var revocationLedger: [Revocation] { state.withLock { $0.revoked } }

  /// Decides how revocations end; nil lets them succeed.
  package nonisolated func setRevocationFailure(_ failure: ProviderFailure?) {
    state.withLock { $0.revocationFailure = failure }
  }
}
