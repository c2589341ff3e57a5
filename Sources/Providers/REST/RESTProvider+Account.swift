package import BrokerCore
package import BrokerProtocol
package import SecretMemory

/// The methods about an account: its user, address, password, data and deletion.
extension RESTProvider: UserInfoProvider, EmailVerificationProvider, ForgottenPasswordProvider,
  PasswordResetProvider, ProfileUpdateProvider, PasswordChangeProvider, AccountDeletionProvider
{
  /// Tells whose session it is.
  ///
  /// - Throws: `.tokenRefused` for an access token that is not accepted; `.transient`, `.outcomeUnknown`.
  package func currentUser(accessToken: BoundToken) async throws(ProviderFailure) -> User {
    try await sessionCaller.ask(.currentUser, as: accessToken).read { reader in reader.user(orRoot: true) }
  }

  /// Confirms an e-mail address with the token that was sent to it.
  ///
  /// - Throws: `.refused` with `validationFailed` for a token that is not good any more; and as ``login(_:)``.
  package func verifyEmail(token: Secret) async throws(ProviderFailure) {
    try await publicCaller.ask(.verifyEmail, [(.token, .secret(token))]).expectSuccess()
  }

  /// Sends a token for a new password; that there is no such account is not told.
  ///
  /// - Throws: as ``login(_:)``, but nothing for an unknown address.
  package func forgotPassword(email: String) async throws(ProviderFailure) {
    let reply = try await publicCaller.ask(.forgotPassword, [(.email, .text(email))])
    do throws(ProviderFailure) {
      try reply.expectSuccess()
    } catch .refused(.invalidCredentials, _, _, _) {
      // The backend says that there is no such account, which stays private.
      return
    }
  }

  /// Sets a new password with the token that was sent.
  ///
  /// - Throws: `.refused` with `validationFailed` for a token or password that is not good; and as ``login(_:)``.
  package func resetPassword(token: Secret, newPassword: Secret) async throws(ProviderFailure) {
    let values: [(RESTEndpoint.Field, RequestFields.Value)] = [
      (.token, .secret(token)), (.password, .secret(newPassword)),
    ]
    try await publicCaller.ask(.resetPassword, values).expectSuccess()
  }

  /// Changes what is known of the account, and tells what it is then.
  ///
  /// - Throws: `.tokenRefused`; `.refused` with `forbidden`, or `validationFailed` and the fields; `.transient`;
  ///   `.outcomeUnknown`.
  package func updateProfile(
    _ changes: ProfileChanges, accessToken: BoundToken
  ) async throws(ProviderFailure) -> ProfileUpdate {
    var extra: [(String, RequestFields.Value)] = []
    let names = mapping.endpoints[.updateProfile]?.fields ?? [:]
    for change in changes.members {
      // What clients call by a name of ours has the backend's; the rest is between the client and the backend.
      let theirs = RESTEndpoint.Field(rawValue: change.name).flatMap { names[$0] } ?? change.name
      extra.append((theirs, .json(change.value)))
    }
    let reply = try await sessionCaller.ask(.updateProfile, extra: extra, as: accessToken)
    try reply.expectSuccess()
    if !reply.isEmpty, let user = try? await reply.read({ reader in reader.user(orRoot: true) }) {
      return ProfileUpdate(user: user)
    }
    return ProfileUpdate(user: try await currentUser(accessToken: accessToken))
  }

  /// Sets a new password; gives the tokens that a backend may answer with.
  ///
  /// - Throws: `.refused` with `invalidCredentials` for a wrong old password, or `validationFailed` and the fields;
  ///   `.tokenRefused`; `.transient`; `.outcomeUnknown`.
  package func changePassword(
    from oldPassword: Secret, to newPassword: Secret, accessToken: BoundToken
  ) async throws(ProviderFailure) -> TokenSet? {
    let reply = try await sessionCaller.ask(
      .changePassword, [(.oldPassword, .secret(oldPassword)), (.newPassword, .secret(newPassword))],
      as: accessToken)
    try reply.expectSuccess()
    return try await newTokens(reply)
  }

  /// The tokens that came with a changed password; most backends send none, whatever the body has then.
  ///
  /// - Throws: `.outcomeUnknown` where there was no room for them for long: the old ones may be over.
  private func newTokens(_ reply: BackendReply) async throws(ProviderFailure) -> TokenSet? {
    do throws(ProviderFailure) {
      return try await reply.read { reader throws(SecretMemoryExhausted) in try reader.tokens() }
    } catch .refused(.invalidResponse, _, _, _) {
      return nil
    }
  }

  /// Removes the account.
  ///
  /// - Throws: `.refused` with `invalidCredentials` for a wrong password; `.tokenRefused`; `.transient`;
  ///   `.outcomeUnknown`.
  package func deleteAccount(password: Secret, accessToken: BoundToken) async throws(ProviderFailure) {
    try await sessionCaller.ask(.deleteAccount, [(.password, .secret(password))], as: accessToken).expectSuccess()
  }
}
