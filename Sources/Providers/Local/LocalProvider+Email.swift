package import BrokerCore
import BrokerProtocol
import SQLite
package import SecretMemory

/// The verification of e-mail addresses, and new ones.
extension LocalProvider: EmailVerificationProvider {
  /// How long a mail may take before another one is sent.
  private static let verificationPause = Duration.seconds(300)

  /// The purposes of messages that a change of address invalidates: they were sent to it, or show that another one is
  /// the user's.
  private static let purposesOfAddress: [MessagePurpose] = [.login, .reset, .verify, .change, .enrol]

  /// Confirms the address that a token was sent to, which becomes the account's if it has waited for that; the token is
  /// used up then.
  ///
  /// - Throws: `.refused` with `validationFailed` and the field `token` for one that is not good any more, or `emailTaken`
  ///   where another account has the address by now; `.transient(.providerUnavailable)`.
  package func verifyEmail(token value: Secret) throws(ProviderFailure) {
    try respond(to: "verifyEmail") { database, now in
      if let account = try holder(of: value, .verify, database, at: now) {
        try confirmEmail(of: account, database, at: now)
      } else if let (token, account) = try findToken(value, .change, database, at: now) {
        try changeEmail(of: account, to: token.email, database, at: now)
      } else {
        throw ProviderFailure.refused(.validationFailed, fields: ["token"])
      }
    }
  }

  private func confirmEmail(of account: Account, _ database: LocalDatabase, at now: Timestamp) throws {
    try database.connection.transaction {
      try database.accounts.setEmailVerified(account.id, at: now)
      try database.mailTokens.remove(.verify, of: account.id)
      try database.audit.append(.emailVerified, account: account.id, at: now)
    }
    removeMessages(of: account.id, .verify, database)
  }

  /// Makes the address that has waited for it the account's, and tells its owner at the one before.
  private func changeEmail(
    of account: Account, to email: String, _ database: LocalDatabase, at now: Timestamp
  ) throws {
    var changed = account
    changed.email = email
    changed.emailVerifiedAt = now
    try database.connection.transaction {
      guard try database.accounts.update(changed) else { throw ProviderFailure.refused(.emailTaken) }
      try endOldAddress(of: account, database)
      try database.audit.append(.emailChanged, account: account.id, at: now)
      try database.audit.append(.emailVerified, account: account.id, at: now)
    }
    announceNewAddress(of: account, database, at: now)
  }

  /// Ends the logins and tokens of an account's earlier address; part of the transaction that gives it another one.
  ///
  /// - Throws: `SQLiteError`.
  func endOldAddress(of account: Account, _ database: LocalDatabase) throws {
    try database.flows.remove(account: account.id)
    try database.mailTokens.removeAll(of: account.id)
  }

  /// Removes the messages of the address that an account had, and tells its owner there of the new one.
  func announceNewAddress(of account: Account, _ database: LocalDatabase, at now: Timestamp) {
    for purpose in Self.purposesOfAddress { removeMessages(of: account.id, purpose, database) }
    notify(account, of: .emailAddressChanged, database, at: now)
  }

  /// Sends another token to an account whose login is refused until its address is verified, unless the last one was sent
  /// just now, or too much was sent lately.
  ///
  /// - Throws: what the database, the memory and the outbox say.
  func sendVerificationAgain(to account: Account, _ database: LocalDatabase, at now: Timestamp) throws {
    let expiry = try database.mailTokens.expiry(.verify, of: account.id)
    let sentAt = expiry.map { $0 + (.zero - MailToken.Purpose.verify.lifetime) }
    if let sentAt, now < sentAt + Self.verificationPause { return }
    guard try messageWait(.verify, to: account, by: .email, database, at: now) == nil else { return }
    try sendToken(.verify, to: account, database, at: now)
  }
}
