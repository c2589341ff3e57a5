package import BrokerCore
package import BrokerProtocol
package import SecretMemory
import Synchronization

/// What the provider does with accounts, each call in its ledger.
extension ScriptedProvider: RegistrationProvider, UserInfoProvider, ForgottenPasswordProvider, PasswordResetProvider,
  ProfileUpdateProvider, PasswordChangeProvider, AccountDeletionProvider
{
  package func register(_ registration: Registration) async throws(ProviderFailure) -> LoginOutcome {
    .authenticated(session)
  }

  package func forgotPassword(email: String) async throws(ProviderFailure) {
    try note("forgotPassword \(email)")
  }

  package func resetPassword(token: Secret, newPassword: Secret) async throws(ProviderFailure) {
    try note("resetPassword")
  }

  package func updateProfile(
    _ changes: ProfileChanges, accessToken: BoundToken
  ) async throws(ProviderFailure) -> ProfileUpdate {
    try note("updateProfile \(changes.members.map(\.name))", accessToken)
    return ProfileUpdate(user: changedUser, enrolment: enrolment)
  }

  /// The user after every change.
  var changedUser: User { User(id: "user-1", email: "a@example.test", name: "B") }

  package func changePassword(
    from oldPassword: Secret, to newPassword: Secret, accessToken: BoundToken
  ) async throws(ProviderFailure) -> TokenSet? {
    try note("changePassword", accessToken)
    return state.withLock { $0.newTokens } ? tokens(lifetime: .seconds(900)) : nil
  }

  package func deleteAccount(password: Secret, accessToken: BoundToken) async throws(ProviderFailure) {
    try note("deleteAccount", accessToken)
  }

  /// Notes a call, and ends it as the test has said.
  func note(_ call: String, _ accessToken: BoundToken? = nil) throws(ProviderFailure) {
    try state.withLock { state throws(ProviderFailure) in
      state.accountCalls.append(call)
      if let accessToken, state.refusedTokens.contains(accessToken.value) { throw .tokenRefused }
      if let failure = state.accountFailure { throw failure }
    }
  }

  package func currentUser(accessToken: BoundToken) async throws(ProviderFailure) -> User {
    try note("currentUser", accessToken)
    let id = state.withLock { $0.userID }
    return User(id: id, email: id == "user-1" ? "a@example.test" : "\(id)@example.test", name: "A")
  }
}
