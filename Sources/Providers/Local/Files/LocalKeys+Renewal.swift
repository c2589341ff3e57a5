import BrokerProtocol
import SQLite

/// New keys in place of lost ones.
extension LocalKeys {
  /// The statements that delete what was made with the lost keys, and is of no more use.
  private static let worthless: [StaticString] = [
    "DELETE FROM otp_flow", "DELETE FROM throttle", "DELETE FROM mail_token", "DELETE FROM refresh_token",
    "DELETE FROM token_family", "DELETE FROM signing_key", "DELETE FROM backup_code", "DELETE FROM enrolment",
    "DELETE FROM totp",
    // Authenticator apps have secrets that are lost: their users are sent codes, as soon as it is proven where to.
    """
    UPDATE account SET second_factor =
      CASE WHEN phone IS NULL OR phone_verified_at IS NULL AND email_verified_at IS NOT NULL THEN 'email' ELSE 'sms' END
    WHERE second_factor = 'totp'
    """,
  ]

  /// Draws all keys, as part of the caller's transaction: accounts and their passwords stay, and all that was made with the
  /// old keys goes.
  ///
  /// - Throws: `SQLiteError`, `SealingError`, `SecretMemoryExhausted`.
  func renew(at now: Timestamp) throws {
    for statement in Self.worthless { try connection.execute(statement) }
    try draw(at: now)
    let audit = AuditTable(connection, try fingerprint(), sealingKey)
    try audit.chainAgain()
    try audit.append(.keysRenewed, account: nil, at: now)
  }
}
