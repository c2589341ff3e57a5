import BrokerProtocol
import SQLite

/// The tables, and work that concerns several of them.
extension LocalDatabase {
  /// The accounts.
  var accounts: AccountTable { AccountTable(connection) }
  /// The tokens that were sent by e-mail.
  var mailTokens: MailTokenTable { MailTokenTable(connection) }
  /// The provider's own decisions.
  var audit: AuditTable { AuditTable(connection, fingerprint, sealingKey) }
  /// When codes and mails were sent.
  var sentCodes: SentCodeTable { SentCodeTable(connection) }
  /// The wrong guesses.
  var throttle: ThrottleTable { ThrottleTable(connection) }
  /// The logins that wait for a code.
  var flows: OTPFlowTable { OTPFlowTable(connection) }
  /// The messages that may lie in the outbox.
  var messages: MessageTable { files.messages }
  /// The authenticator apps.
  var totp: TOTPTable { TOTPTable(connection: connection, sealingKey: sealingKey) }
  /// The second factors that wait for their first code.
  var enrolments: EnrolmentTable { EnrolmentTable(connection: connection, sealingKey: sealingKey) }
  /// The backup codes.
  var backupCodes: BackupCodeTable { BackupCodeTable(connection) }
  /// The keys that sign access tokens.
  var signingKeys: SigningKeyTable { SigningKeyTable(connection: connection, sealingKey: sealingKey) }
  /// The sessions.
  var families: TokenFamilyTable { TokenFamilyTable(connection) }

  /// The name under which an address's failures are counted.
  func throttleKey(_ email: String) -> [UInt8] { fingerprint.of(email, .address) }

  /// Removes messages, the file before its row.
  ///
  /// - Throws: `Errno`, `SQLiteError`.
  func removeMessages(_ numbers: [Int64]) throws {
    try files.removeMessages(numbers)
  }

  /// Removes rows of what ended so long ago that the reason is of no use any more.
  ///
  /// - Throws: `SQLiteError`.
  func removeEnded(at now: Timestamp) throws {
    try connection.transaction {
      try flows.removeOld(at: now)
      try enrolments.removeOld(at: now)
      try throttle.removeOld(at: now)
      try mailTokens.removeOld(at: now)
      try sentCodes.removeOld(at: now)
      try families.removeOld(at: now)
      try signingKeys.removeOld(at: now)
    }
  }
}
