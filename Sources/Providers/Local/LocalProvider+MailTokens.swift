import BrokerCore
import BrokerProtocol
import SQLite
import SecretMemory

/// Tokens that are sent by e-mail, and what is sent besides them and codes.
extension LocalProvider {
  /// How long a notice lies in the outbox: its owner sees it within a day, or not at all.
  private static let noticeLifetime = Duration.seconds(86_400)

  /// Sends a token to an account's address; the one before is worth nothing any more.
  ///
  /// - Throws: `ProviderFailure.refused` with `rateLimited` and the time to wait, where the account was sent as much as it
  ///   may be: the token before stays good. What the database, the memory and the outbox say.
  func sendToken(
    _ purpose: MailToken.Purpose, to account: Account, _ database: LocalDatabase, at now: Timestamp
  ) throws {
    try requireRoom(for: purpose.message, to: account, database, at: now)
    let value = try Self.randomToken()
    let token = MailToken(
      account: account.id, purpose: purpose, email: account.email, expiresAt: now + purpose.lifetime)
    try database.connection.transaction {
      try database.mailTokens.replace(with: token, database.fingerprint.of(value, .mailToken))
    }
    let content: MessageContent =
      switch purpose {
      case .reset: .passwordReset(token: value, lifetime: purpose.lifetime)
      case .verify: .emailVerification(token: value, lifetime: purpose.lifetime)
      }
    try send(
      content, to: account, by: .email, purpose: purpose.message, expiresAt: token.expiresAt, database, at: now)
  }

  /// The account that a token was sent to; nil where the token is none, was used, has expired, or was sent to an address
  /// that is not the account's any more.
  ///
  /// - Throws: `SQLiteError`.
  func holder(
    of value: Secret, _ purpose: MailToken.Purpose, _ database: LocalDatabase, at now: Timestamp
  ) throws -> Account? {
    guard let token = try database.mailTokens.find(database.fingerprint.of(value, .mailToken), purpose),
      now < token.expiresAt, let account = try database.accounts.find(id: token.account), account.email == token.email
    else { return nil }
    return account
  }

  /// Refuses a message to an account that was sent as many as it may be.
  ///
  /// - Throws: `ProviderFailure.refused` with `rateLimited` and the time to wait; `SQLiteError`.
  func requireRoom(
    for purpose: MessagePurpose, to account: Account, _ database: LocalDatabase, at now: Timestamp
  ) throws {
    guard let wait = try messageWait(purpose, account, database, at: now) else { return }
    throw ProviderFailure.refused(.rateLimited, retryAfter: wait)
  }

  /// How long an account has to wait for its next message; nil where it may have one now.
  ///
  /// - Throws: `SQLiteError`.
  func messageWait(
    _ purpose: MessagePurpose, _ account: Account, _ database: LocalDatabase, at now: Timestamp
  ) throws(SQLiteError) -> Duration? {
    try database.sentCodes.wait(account.id, purpose.share, configuration.messageLimits, at: now)
  }

  /// Tells an account's owner by e-mail what was done: a failure changes nothing of that.
  func notify(
    _ account: Account, of content: MessageContent, _ database: LocalDatabase, at now: Timestamp
  ) {
    try? send(
      content, to: account, by: .email, purpose: .notice, expiresAt: now + Self.noticeLifetime, database, at: now)
  }
}
