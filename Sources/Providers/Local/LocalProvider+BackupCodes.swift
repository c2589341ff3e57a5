package import BrokerCore
import BrokerProtocol
import SQLite
package import SecretMemory

/// Backup codes.
extension LocalProvider: BackupCodeProvider, BackupCodeIssuer {
  /// They are only there for the eye.
  package nonisolated var dashesOfBackupCodes: TypedCode.Dashes { .removed }

  /// Compares a backup code in place of a login's one-time code, and begins the session; the code is used up then.
  ///
  /// Input that cannot be a backup code is refused without being counted. Every other attempt counts as one at the
  /// one-time code does, durably, before it is compared.
  ///
  /// - Throws: as ``verifyOTP(flow:code:)``, with `backupCodeInvalid` for `otpInvalid`.
  package func verifyBackupCode(flow handle: Secret, code: Secret) throws(ProviderFailure) -> ProviderSession {
    try respond(to: "verifyBackupCode") { database, now in
      let flow = try openFlow(handle, database, at: now)
      guard let code = try BackupCodes.normalized(code) else {
        throw ProviderFailure.refused(.backupCodeInvalid, attemptsRemaining: attemptsRemaining(in: flow))
      }
      let account = try countGuess(in: flow, database, at: now)
      let fingerprint = Self.fingerprint(of: code, account, database)
      guard try database.backupCodes.isUnused(fingerprint) else {
        try refuse(flow, account, .backupCodeInvalid, database, at: now)
      }
      var session = try redeem(.backup(fingerprint), flow, account, database, at: now)
      session.backupCodesRemaining = try database.backupCodes.unusedCount(of: account.id)
      return session
    }
  }

  /// Makes new backup codes, which end the ones before.
  ///
  /// - Returns: the codes as they are shown, this once.
  /// - Throws: `.tokenRefused`; `.refused` with `tooManyAttempts` and the time to wait, or `invalidCredentials` for a wrong
  ///   password; `.transient(.providerUnavailable)`.
  package func generateBackupCodes(password: Secret, accessToken: BoundToken) throws(ProviderFailure) -> [Secret] {
    try respond(to: "generateBackupCodes") { database, now in
      let account = try session(of: accessToken.value, database, at: now).account
      _ = try prove(password, of: account, address: account.email, database, at: now)
      let codes = try BackupCodes.generate()
      try database.connection.transaction {
        try database.backupCodes.replace(
          with: codes.map { Self.fingerprint(of: $0, account, database) }, of: account.id)
        try database.audit.append(.backupCodesMade, account: account.id, at: now)
      }
      return try codes.map { try BackupCodes.formatted($0) }
    }
  }

  /// The stored fingerprint of a code: bound to the account, since another account may have the same code by chance.
  private static func fingerprint(of code: Secret, _ account: Account, _ database: LocalDatabase) -> [UInt8] {
    database.fingerprint.of(code, .backupCode, context: Array(account.id.utf8))
  }
}
