import BrokerCore
import BrokerProtocol
import SQLite
import Sealing
import SecretMemory

/// The comparison of passwords, the same for all that asks for one.
extension LocalProvider {
  /// Compares a password, as it was typed, with an account's, and hashes it again where its hash is not one of today's.
  ///
  /// Wrong passwords are counted for the address. Where that has no account, it takes as much work and is refused in the
  /// same way.
  ///
  /// - Returns: the account.
  /// - Throws: `ProviderFailure.refused` with `tooManyAttempts` and the time to wait, or `invalidCredentials`; what the
  ///   database and the memory say.
  func prove(
    _ password: Secret, of account: Account?, address: String, _ database: LocalDatabase, at now: Timestamp
  ) throws -> Account {
    // No account can have it: the refusal reveals nothing about any.
    guard password.byteCount <= PasswordPolicy.largestByteCount else {
      throw ProviderFailure.refused(.invalidCredentials)
    }
    let key = database.throttleKey(address)
    if let wait = try database.throttle.wait(key, at: now) {
      throw ProviderFailure.refused(.tooManyAttempts, retryAfter: wait)
    }
    let normalized = try NormalizedPassword.make(password) ?? password
    var isRight = try isPassword(normalized, of: account)
    var isOldForm = false
    // Hashes of earlier versions are those of the password as it was typed.
    if !isRight, normalized != password {
      isRight = try isPassword(password, of: account)
      isOldForm = isRight
    }
    guard let account, isRight else {
      try noteWrongPassword(of: account, key, database, at: now)
      throw ProviderFailure.refused(.invalidCredentials)
    }
    if try isOldForm || passwordHash.needsRehash(account.passwordHash.span) {
      try database.accounts.renewPasswordHash(try passwordHash.hash(normalized), of: account.id)
    }
    return account
  }

  private func isPassword(_ password: Secret, of account: Account?) throws -> Bool {
    guard let account else { return try passwordHash.verifyAgainstNothing(password) }
    return try passwordHash.verify(password, against: account.passwordHash.span)
  }

  private func noteWrongPassword(
    of account: Account?, _ key: [UInt8], _ database: LocalDatabase, at now: Timestamp
  ) throws {
    try database.connection.transaction {
      try database.throttle.recordFailure(key, at: now)
      let wait = try database.throttle.wait(key, at: now)
      try database.audit.append(
        .loginRefused, account: account?.id, detail: wait.map { "next attempt in \($0.components.seconds) s" }, at: now)
    }
  }
}
