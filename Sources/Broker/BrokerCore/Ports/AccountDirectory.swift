package import BrokerProtocol
package import SecretMemory

/// The accounts, sessions and messages of the embedded provider, for the owner of the state directory.
///
/// An account is named by its identifier or its e-mail address. An unknown one is refused with `validationFailed` and
/// the field `user`. Failures of the files are as for every other call of the provider.
package protocol AccountDirectory: Sendable {
  /// The binding of its accounts' sessions.
  var binding: ProviderBinding { get }

  /// The newest accounts, by their addresses: ``ListLocalUsers/largestCount`` at most, as with each list here.
  func users() async throws(ProviderFailure) -> [LocalUser]

  /// Makes an account without a login.
  ///
  /// - Throws: `.refused` with `validationFailed` and the fields, `emailTaken`, or `rateLimited` where a token would have to
  ///   be sent to an address that was sent too much.
  func addUser(_ registration: Registration) async throws(ProviderFailure) -> LocalUser

  /// Enables an account, or disables it, which revokes its sessions and cancels its login.
  func setEnabled(_ isEnabled: Bool, user: String) async throws(ProviderFailure) -> LocalUser

  /// Gives an account a new password, removes its second factor, or both; its sessions end.
  ///
  /// - Throws: `.refused` with `validationFailed` and the fields: `password` for one that the policy refuses, `password` and
  ///   `removeSecondFactor` where neither is asked for.
  func reset(_ user: String, password: Secret?, removesFactor: Bool) async throws(ProviderFailure) -> LocalUser

  /// Deletes an account and all that belongs to it.
  ///
  /// - Returns: the identifier that it had.
  @discardableResult func delete(_ user: String) async throws(ProviderFailure) -> String

  /// The sessions that can still be refreshed, the newest first: those of one account, or all where `user` is nil.
  func sessions(of user: String?) async throws(ProviderFailure) -> [LocalSession]

  /// Revokes one session, or all of an account.
  ///
  /// - Parameters:
  ///   - user: the account; nil where a session is named, whosever it is.
  ///   - session: the identifier of the session; nil: all of the account.
  /// - Returns: how many had not ended before, and the identifier of their account.
  /// - Throws: `.refused` with `validationFailed` and the fields, also where neither is given.
  func revokeSessions(
    of user: String?, session: String?
  ) async throws(ProviderFailure) -> (count: Int, user: String)

  /// Revokes every session of every account.
  ///
  /// - Returns: how many had not ended before.
  func revokeAllSessions() async throws(ProviderFailure) -> Int

  /// The messages of the outbox, the oldest first.
  func messages() async throws(ProviderFailure) -> [LocalMessage]

  /// The keys that verify access tokens: the signing key first, then those whose tokens have not all expired.
  func keySet() async throws(ProviderFailure) -> [JSONWebKey]

  /// Makes a new signing key, and returns the keys as they are then.
  func rotateSigningKey() async throws(ProviderFailure) -> [JSONWebKey]

  /// Introspects an access token or a refresh token: whether it is valid now, and its user.
  func introspect(_ token: Secret) async throws(ProviderFailure) -> TokenIntrospection

  /// Reads the audit log, and verifies all of it.
  ///
  /// - Parameters:
  ///   - since: the number of the last record that is known; nil: the newest records are wanted.
  ///   - limit: how many records are wanted at most.
  /// - Returns: the records, the oldest first, and whether the log is as it was written.
  /// - Throws: `ProviderFailure` where the database cannot be read.
  func audit(since: Int?, limit: Int) async throws(ProviderFailure) -> (records: [LocalAuditRecord], isIntact: Bool)
}
