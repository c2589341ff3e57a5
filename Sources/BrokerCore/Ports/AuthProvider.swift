package import BrokerProtocol
package import SecretMemory

/// A place that logs people in: the only thing that the core knows of any provider.
///
/// Every call may take long, so none runs on the loop; each is done once and never repeated by the provider itself.
package protocol AuthProvider: Sendable {
  /// What sessions of this provider are bound to.
  var binding: ProviderBinding { get }

  /// What the provider can do besides beginning, refreshing and ending sessions.
  var abilities: Set<ProviderAbility> { get }

  /// How a session can be begun, the way to take where a client names none first.
  ///
  /// The first whose credentials are given is taken.
  var loginMethods: [LoginMethod] { get }

  /// Whether the end of one session's tokens may end other sessions of the same user, too.
  ///
  /// RFC 7009, section 2.1, leaves it to the provider how much of a grant goes with a token: many end all that the user has
  /// granted to the client.
  var revokesWholeGrants: Bool { get }

  /// Begins a login by the method that the credentials name, one of ``loginMethods``.
  func login(_ credentials: Credentials) async throws(ProviderFailure) -> LoginOutcome

  /// Makes an account and logs in as ``login(_:)`` does.
  func register(_ registration: Registration) async throws(ProviderFailure) -> LoginOutcome

  /// Answers a pending challenge with its code. `flow` is the provider's own handle.
  func verifyOTP(flow: Secret, code: Secret) async throws(ProviderFailure) -> ProviderSession

  /// Answers a pending challenge with one of the account's backup codes.
  func verifyBackupCode(flow: Secret, code: Secret) async throws(ProviderFailure) -> ProviderSession

  /// What becomes of the dashes that a person types in a backup code.
  var dashesOfBackupCodes: TypedCode.Dashes { get }

  /// Sends another code.
  func resendOTP(flow: Secret) async throws(ProviderFailure) -> ProviderChallenge

  /// Asks once whether the user has done what was asked of them at another device (RFC 8628, section 3.4).
  ///
  /// `flow` is the provider's own handle. The caller keeps the interval, and slows down where it is told to.
  func pollUserAction(flow: Secret) async throws(ProviderFailure) -> UserActionProgress

  /// Waits for a browser to come back to a loopback address (RFC 8252, section 7.3), and gives the session it brings.
  ///
  /// `flow` is the provider's own handle, and says everything that is needed to listen again in another process. It ends
  /// soon after its task is cancelled, and then nothing listens any more.
  func awaitRedirect(flow: Secret) async throws(ProviderFailure) -> ProviderSession

  /// Whether tokens are the client's own: there is no user, and what stands in the refresh token's place is none (RFC 6749,
  /// section 4.4).
  func areClientsOwn(_ tokens: TokenSet) -> Bool

  /// Spends the refresh token (RFC 6749, section 6).
  func refresh(_ refreshToken: Secret) async throws(ProviderFailure) -> TokenSet

  /// Whether there may be tokens for a target, as far as that is known without asking anybody.
  func canGive(_ target: TokenTarget) -> Bool

  /// Spends the refresh token for an access token of another target than the session's.
  ///
  /// A refresh token in the answer replaces the session's; the session's own access token stays as it is. A refusal says
  /// nothing of the session, unless it is `.sessionEnded` with an alert.
  func accessToken(for target: TokenTarget, refreshToken: Secret) async throws(ProviderFailure) -> TokenSet

  /// Ends the session at the provider (RFC 7009); `everywhere` ends all sessions of its user.
  func revoke(_ tokens: TokenSet, everywhere: Bool) async throws(ProviderFailure)

  /// Tells whose session it is.
  func currentUser(accessToken: Secret) async throws(ProviderFailure) -> User

  /// Confirms an e-mail address with the token that was sent to it.
  func verifyEmail(token: Secret) async throws(ProviderFailure)

  /// Sends a token for a new password, if there is such an account; which of the two is not told.
  func forgotPassword(email: String) async throws(ProviderFailure)

  /// Sets a new password with the token that was sent.
  func resetPassword(token: Secret, newPassword: Secret) async throws(ProviderFailure)

  /// Changes what is known of the account, and tells what it is then.
  func updateProfile(_ changes: ProfileChanges, accessToken: Secret) async throws(ProviderFailure) -> User

  /// Sets a new password; gives new tokens where the provider has exchanged the session's.
  func changePassword(
    from oldPassword: Secret, to newPassword: Secret, accessToken: Secret
  ) async throws(ProviderFailure) -> TokenSet?

  /// Removes the account.
  func deleteAccount(password: Secret, accessToken: Secret) async throws(ProviderFailure)

  /// Sends one request that changes nothing and carries no credential, to see whether the provider can be reached.
  ///
  /// It ends within the time of a call that a person waits for, whatever the provider does. That it fails is what the
  /// caller wants to know, with the place that was tried, so it is a result and no error.
  func probe() async -> ProviderProbe

  /// What sessions are asked for where the request says nothing else; empty: whatever the provider gives.
  var requestedScopes: [String] { get }

  /// Looks closely at the provider: what it says of itself, and what users lose where it says too little.
  ///
  /// As ``probe()`` it changes nothing at the provider and ends in time; it may send more than one request, and the
  /// client's own name, but no user's credential. Texts of the provider are sanitised and bounded.
  func examine() async -> [ProviderFinding]
}

/// A provider without a network.
extension AuthProvider {
  /// There is nothing to reach.
  package func probe() async -> ProviderProbe { .nothingToReach }

  /// Whatever the provider gives.
  package var requestedScopes: [String] { [] }

  /// Whether it can be reached is all that is known of a provider that says no more.
  package func examine() async -> [ProviderFinding] { await probe().findings }
}

extension AuthProvider {
  /// The abilities, with the waiting for users where any way of logging in needs it.
  var knownAbilities: Set<ProviderAbility> {
    let asksElsewhere = loginMethods.contains { $0 == .deviceCode || $0 == .browser }
    return asksElsewhere ? abilities.union([.awaitLogin]) : abilities.subtracting([.awaitLogin])
  }
}

extension AuthProvider {
  /// Dashes are only there for the eye.
  package var dashesOfBackupCodes: TypedCode.Dashes { .removed }
}

extension AuthProvider {
  /// The end of a session is the end of that session only.
  package var revokesWholeGrants: Bool { false }
}

extension AuthProvider {
  /// Every session is a user's.
  package func areClientsOwn(_ tokens: TokenSet) -> Bool { false }
}

/// A provider that asks for a password, and for nothing that is done elsewhere.
extension AuthProvider {
  /// A password is the only way in.
  package var loginMethods: [LoginMethod] { [.password] }

  /// Nothing is done at another device.
  ///
  /// - Throws: `ProviderFailure.unsupported`.
  package func pollUserAction(flow: Secret) async throws(ProviderFailure) -> UserActionProgress { throw .unsupported }

  /// No browser comes back.
  ///
  /// - Throws: `ProviderFailure.unsupported`.
  package func awaitRedirect(flow: Secret) async throws(ProviderFailure) -> ProviderSession { throw .unsupported }
}

/// A provider has only what it lists in its abilities.
extension AuthProvider {
  /// There are no backup codes.
  ///
  /// - Throws: `ProviderFailure.unsupported`.
  package func verifyBackupCode(flow: Secret, code: Secret) async throws(ProviderFailure) -> ProviderSession {
    throw .unsupported
  }

  /// No address is verified.
  ///
  /// - Throws: `ProviderFailure.unsupported`.
  package func verifyEmail(token: Secret) async throws(ProviderFailure) { throw .unsupported }

  /// No token is sent.
  ///
  /// - Throws: `ProviderFailure.unsupported`.
  package func forgotPassword(email: String) async throws(ProviderFailure) { throw .unsupported }

  /// No token is taken.
  ///
  /// - Throws: `ProviderFailure.unsupported`.
  package func resetPassword(token: Secret, newPassword: Secret) async throws(ProviderFailure) { throw .unsupported }

  /// The account is as it is.
  ///
  /// - Throws: `ProviderFailure.unsupported`.
  package func updateProfile(_ changes: ProfileChanges, accessToken: Secret) async throws(ProviderFailure) -> User {
    throw .unsupported
  }

  /// The password is as it is.
  ///
  /// - Throws: `ProviderFailure.unsupported`.
  package func changePassword(
    from oldPassword: Secret, to newPassword: Secret, accessToken: Secret
  ) async throws(ProviderFailure) -> TokenSet? {
    throw .unsupported
  }

  /// The account stays.
  ///
  /// - Throws: `ProviderFailure.unsupported`.
  package func deleteAccount(password: Secret, accessToken: Secret) async throws(ProviderFailure) {
    throw .unsupported
  }
}
