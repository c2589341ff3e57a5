package import BrokerCore
import BrokerProtocol
import SQLite
import Sealing
package import SecretMemory

/// New passwords: for users who have forgotten the old one, and for those who know it.
extension LocalProvider: ForgottenPasswordProvider, PasswordResetProvider, PasswordChangeProvider {
  /// The authority by which a new password is set.
  enum PasswordAuthority {
    /// A token that was sent to the account's address.
    case mailToken
    /// The old password, in a session that goes on.
    case oldPassword(TokenFamily)
    /// The owner of the state directory.
    case owner
  }

  /// Sends a token for a new password, if there is an account for it.
  ///
  /// Any other address costs as much work, and a password hash whose time varies more than what is left of the difference.
  ///
  /// - Throws: `.transient(.providerUnavailable)`.
  package func forgotPassword(email input: String) throws(ProviderFailure) {
    // No account can have such an address: the answer reveals nothing about any.
    guard let email = EmailAddress(input) else { return }
    try respond(to: "forgotPassword") { database, now in
      _ = try passwordHash.verifyAgainstNothing(.empty)
      let account = try database.accounts.find(email: email)
      try database.audit.append(.passwordForgotten, account: account?.id, at: now)
      guard let account, account.disabledAt == nil,
        try messageWait(.reset, to: account, by: .email, database, at: now) == nil
      else { return try pretendToSend(to: email, database, at: now) }
      try sendToken(.reset, to: account, database, at: now)
    }
  }

  /// Sets a new password with the token that was sent, and ends all sessions and tokens of the account.
  ///
  /// - Throws: `.refused` with `validationFailed` and the fields, `token` for one that is not good any more and `password`
  ///   for one that the policy refuses, which leaves the token good; `accountLocked` for a disabled account.
  ///   `.transient(.providerUnavailable)`.
  package func resetPassword(token: Secret, newPassword: Secret) throws(ProviderFailure) {
    try respond(to: "resetPassword") { database, now in
      let found = try holder(of: token, .reset, database, at: now)
      // Whose password it would be is not known without the token: then it is judged as anyone's.
      let policy = found?.passwordPolicy ?? PasswordPolicy(hasSecondFactor: true)
      let verdict = try policy.judge(newPassword, email: found?.email ?? "", name: found?.name)
      guard let account = found, let password = verdict.password else {
        let wrong = (found == nil ? ["token"] : []) + (verdict.password == nil ? ["password"] : [])
        throw ProviderFailure.refused(.validationFailed, fields: wrong)
      }
      guard account.disabledAt == nil else { throw ProviderFailure.refused(.accountLocked) }
      try setPassword(password, of: account, with: .mailToken, database, at: now)
    }
  }

  /// Sets a new password with the old one, and ends all other sessions of the account.
  ///
  /// - Returns: nil: the session's tokens stay as they are.
  /// - Throws: `.tokenRefused`; `.refused` with `validationFailed` and the field `newPassword`, `tooManyAttempts` with the
  ///   time to wait, or `invalidCredentials` for a wrong old password; `.transient(.providerUnavailable)`.
  package func changePassword(
    from oldPassword: Secret, to newPassword: Secret, accessToken: BoundToken
  ) throws(ProviderFailure) -> TokenSet? {
    try respond(to: "changePassword") { database, now in
      let (account, family) = try session(of: accessToken.value, database, at: now)
      let verdict = try account.passwordPolicy.judge(newPassword, email: account.email, name: account.name)
      guard let password = verdict.password else {
        throw ProviderFailure.refused(.validationFailed, fields: ["newPassword"])
      }
      _ = try prove(oldPassword, of: account, address: account.email, database, at: now)
      try setPassword(password, of: account, with: .oldPassword(family), database, at: now)
      return nil
    }
  }

  /// Sets a password, ends the pending logins, enrolments and mail tokens begun with the old one, and notifies the
  /// account's owner.
  func setPassword(
    _ password: Secret, of account: Account, with authority: PasswordAuthority, _ database: LocalDatabase,
    at now: Timestamp
  ) throws {
    let hash = try passwordHash.hash(password)
    try database.connection.transaction {
      try database.accounts.setPasswordHash(hash, of: account.id, at: now)
      try database.flows.remove(account: account.id)
      // The app or number of a thief who began with the old password would be the owner's second factor.
      try database.enrolments.remove(account: account.id)
      // And the address that they chose would be the account's.
      try database.mailTokens.remove(.change, of: account.id)
      try database.mailTokens.remove(.reset, of: account.id)
      switch authority {
      case .mailToken:
        try database.families.revokeAll(account: account.id, at: now)
        // A thief with the old password may have used them up; what went to an unverified address counts on there.
        try database.sentCodes.release(account.id, .other)
        try noteMailRead(by: account, database, at: now)
        try database.audit.append(.passwordReset, account: account.id, at: now)
      case .owner:
        try database.families.revokeAll(account: account.id, at: now)
        try database.throttle.clear(database.throttleKey(account.email))
        try database.audit.append(.passwordReset, account: account.id, detail: Self.ownerDetail, at: now)
      case .oldPassword(let family):
        try database.families.revokeAll(account: account.id, except: family.id, at: now)
        try database.audit.append(.passwordChanged, account: account.id, at: now)
      }
    }
    for purpose in [MessagePurpose.login, .reset, .change, .enrol] { removeMessages(of: account.id, purpose, database) }
    notify(account, of: .passwordChanged, database, at: now)
  }

  /// Notes that an account's owner reads its mail: the address is theirs, and wrong passwords were their own.
  ///
  /// Where codes are guessed as well, these stay counted.
  private func noteMailRead(by account: Account, _ database: LocalDatabase, at now: Timestamp) throws {
    try database.accounts.setEmailVerified(account.id, at: now)
    guard account.provenFactor == .off else { return }
    try database.throttle.clear(database.throttleKey(account.email))
  }

  /// Does the work of ``sendToken(_:to:_:at:)``, and sends nothing.
  private func pretendToSend(to email: EmailAddress, _ database: LocalDatabase, at now: Timestamp) throws {
    let (value, noAccount) = (try Self.randomToken(), "")
    let destination = MessageDestination(address: email.text, masked: "", isVerified: false)
    let purpose = MailToken.Purpose.reset
    let token = MailToken(account: noAccount, purpose: purpose, email: noAccount, expiresAt: now + purpose.lifetime)
    let counted = CountedMessage(purpose.message, to: noAccount, destination, database.fingerprint)
    // As for an account, once before the transaction and once in it.
    _ = try database.sentCodes.wait(for: counted, configuration.messageLimits, at: now)
    try database.connection.transaction {
      _ = try database.sentCodes.wait(for: counted, configuration.messageLimits, at: now)
      try database.mailTokens.replace(with: token, database.fingerprint.of(value, .mailToken))
      try database.mailTokens.remove(purpose, of: noAccount)
      try database.sentCodes.record(counted, at: now)
      try database.sentCodes.remove(noAccount)
    }
    defer { removeMessagesAtExpiry() }
    guard delivery.channel(for: .email) == nil else { return }
    let content = MessageContent.passwordReset(token: value, lifetime: purpose.lifetime)
    let message = try OutboundMessage(content, to: noAccount, by: .email, at: now, wording: configuration.wording)
    try database.files.outbox.write(message, number: MessageTable.numberOfNone)
    try database.files.outbox.remove(MessageTable.numberOfNone)
  }
}
