package import BrokerCore
package import BrokerProtocol
import JSON
package import SecretMemory

/// The methods about an account: its user, address, password, data and deletion.
extension FirebaseProvider: UserInfoProvider, EmailVerificationProvider, ForgottenPasswordProvider,
  PasswordResetProvider, ProfileUpdateProvider, PasswordChangeProvider, AccountDeletionProvider
{
  /// Tells whose session it is.
  ///
  /// - Throws: `.tokenRefused` for an ID token that is not accepted; `.transient`, `.outcomeUnknown`.
  package func currentUser(accessToken: BoundToken) async throws(ProviderFailure) -> User {
    try await caller.ask(.lookup, [("idToken", .secret(accessToken.value))]).read { reader in reader.foundUser() }
  }

  /// Confirms an e-mail address with the code of the link that was sent to it (`oobCode`).
  ///
  /// - Throws: `.refused` with `validationFailed` for a code that is not good any more; and as ``login(_:)``.
  package func verifyEmail(token: Secret) async throws(ProviderFailure) {
    try await caller.ask(.update, [("oobCode", .secret(token))]).expectSuccess()
  }

  /// Sends a link for a new password; that there is no such account is not told.
  ///
  /// - Throws: as ``login(_:)``, but nothing for an unknown address.
  package func forgotPassword(email: String) async throws(ProviderFailure) {
    let reply = try await caller.ask(
      .sendOobCode, [("requestType", .text("PASSWORD_RESET")), ("email", .text(email))])
    do throws(ProviderFailure) {
      try await reply.expectSuccess()
    } catch .refused(.invalidCredentials, _, _, _) {
      return
    }
  }

  /// Sets a new password with the code of the link that was sent (`oobCode`).
  ///
  /// - Throws: `.refused` with `validationFailed` for a code or password that is not good; and as ``login(_:)``.
  package func resetPassword(token: Secret, newPassword: Secret) async throws(ProviderFailure) {
    try await caller.ask(.resetPassword, [("oobCode", .secret(token)), ("newPassword", .secret(newPassword))])
      .expectSuccess()
  }

  /// Changes the name, and returns the account as it is then.
  ///
  /// - Throws: `.refused` with `validationFailed` and the fields for anything but `name`; `.tokenRefused`; `.transient`;
  ///   `.outcomeUnknown`.
  package func updateProfile(
    _ changes: ProfileChanges, accessToken: BoundToken
  ) async throws(ProviderFailure) -> ProfileUpdate {
    var fields: [(String, FirebaseFields.Value)] = [
      ("idToken", .secret(accessToken.value)), ("returnSecureToken", .flag(false)),
    ]
    var refused: [String] = []
    for change in changes.members {
      let node = (try? JSONDocument(parsing: change.value.text))?.root
      if change.name == "name", let name = try? node?.string() {
        fields.append(("displayName", .text(name)))
      } else {
        refused.append(change.name)
      }
    }
    guard refused.isEmpty else { throw .refused(.validationFailed, fields: refused) }
    try await caller.ask(.update, fields).expectSuccess()
    return ProfileUpdate(user: try await currentUser(accessToken: accessToken))
  }

  /// Sets a new password; all refresh tokens end by that, so it gives the new ones.
  ///
  /// - Throws: `.refused` with `invalidCredentials` for a wrong old password, or `validationFailed` and the fields;
  ///   `.tokenRefused`; `.transient`; `.outcomeUnknown`.
  package func changePassword(
    from oldPassword: Secret, to newPassword: Secret, accessToken: BoundToken
  ) async throws(ProviderFailure) -> TokenSet? {
    let idToken = try await provenToken(oldPassword, accessToken)
    return try await caller.ask(
      .update,
      [("idToken", .secret(idToken)), ("password", .secret(newPassword)), ("returnSecureToken", .flag(true))]
    ).read { reader throws(SecretMemoryExhausted) in try reader.tokens() }
  }

  /// Removes the account.
  ///
  /// - Throws: `.refused` with `invalidCredentials` for a wrong password; `.tokenRefused`; `.transient`;
  ///   `.outcomeUnknown`.
  package func deleteAccount(password: Secret, accessToken: BoundToken) async throws(ProviderFailure) {
    let idToken = try await provenToken(password, accessToken)
    try await caller.ask(.delete, [("idToken", .secret(idToken))]).expectSuccess()
  }

  /// A fresh ID token for a password: the services demand one, in place of a recent login.
  private func provenToken(_ password: Secret, _ accessToken: BoundToken) async throws(ProviderFailure) -> Secret {
    let email = try await caller.ask(.lookup, [("idToken", .secret(accessToken.value))]).read { reader in
      reader.foundEmail()
    }
    let fresh = try await signIn(email, password).read { reader throws(SecretMemoryExhausted) -> Secret?? in
      // An account with a second factor proves itself by a whole login.
      if try reader.secondFactors() != nil { return .some(nil) }
      return try reader.tokens().map { .some($0.accessToken.value) }
    }
    guard let fresh else { throw .refused(.reauthRequired) }
    return fresh
  }
}
