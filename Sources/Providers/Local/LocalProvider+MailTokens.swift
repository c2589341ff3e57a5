import BrokerCore
import BrokerProtocol
import SQLite
import SecretMemory

/// Tokens and notices that are sent by e-mail.
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
    let mail = try database.connection.transaction { try makeToken(purpose, for: account, database, at: now) }
    try post(mail, database)
  }

  /// Makes a token and its mail in place of the earlier ones; part of a transaction, after which `post` sends it.
  ///
  /// - Throws: as ``sendToken(_:to:_:at:)``.
  func makeToken(
    _ purpose: MailToken.Purpose, for account: Account, _ database: LocalDatabase, at now: Timestamp
  ) throws -> NumberedMessage {
    try requireRoom(for: purpose.message, to: account, by: .email, database, at: now)
    let value = try Self.randomToken()
    let token = MailToken(
      account: account.id, purpose: purpose, email: account.email, expiresAt: now + purpose.lifetime)
    try database.mailTokens.replace(with: token, database.fingerprint.of(value, .mailToken))
    let content: MessageContent =
      switch purpose {
      case .reset: .passwordReset(token: value, lifetime: purpose.lifetime)
      case .verify, .change: .emailVerification(token: value, lifetime: purpose.lifetime)
      }
    return try number(
      content, to: account, by: .email, purpose: purpose.message, expiresAt: token.expiresAt, database, at: now)
  }

  /// The account that a token was sent to; nil where the token is none, was used, has expired, or was sent to an address
  /// that is not the account's any more.
  ///
  /// - Throws: `SQLiteError`.
  func holder(
    of value: Secret, _ purpose: MailToken.Purpose, _ database: LocalDatabase, at now: Timestamp
  ) throws -> Account? {
    guard let (token, account) = try findToken(value, purpose, database, at: now), account.email == token.email else {
      return nil
    }
    return account
  }

  /// The token with a value and its account; nil where the token is none, was used, or has expired.
  ///
  /// - Throws: `SQLiteError`.
  func findToken(
    _ value: Secret, _ purpose: MailToken.Purpose, _ database: LocalDatabase, at now: Timestamp
  ) throws -> (token: MailToken, account: Account)? {
    guard let token = try database.mailTokens.find(database.fingerprint.of(value, .mailToken), purpose),
      now < token.expiresAt, let account = try database.accounts.find(id: token.account)
    else { return nil }
    return (token, account)
  }

  /// Notifies an account's owner by e-mail of a change; a failure does not undo the change.
  ///
  /// Where too many notices were sent, the audit has this one instead: a loop of changes floods no mailbox.
  func notify(
    _ account: Account, of content: MessageContent, _ database: LocalDatabase, at now: Timestamp
  ) {
    do {
      guard try messageWait(.notice, to: account, by: .email, database, at: now) == nil else {
        return try database.audit.append(.noticeDropped, account: account.id, detail: content.subject, at: now)
      }
      try send(
        content, to: account, by: .email, purpose: .notice, expiresAt: now + Self.noticeLifetime, database, at: now)
    } catch {}
  }
}
