package import BrokerCore
import BrokerProtocol
import SQLite
package import SecretMemory

/// The end of an account.
extension LocalProvider: AccountDeletionProvider {
  /// Removes an account and everything that belongs to it, messages first; its records in the audit stay.
  ///
  /// - Throws: `.tokenRefused`; `.refused` with `tooManyAttempts` and the time to wait, or `invalidCredentials`;
  ///   `.transient(.providerUnavailable)`.
  package func deleteAccount(password: Secret, accessToken: BoundToken) throws(ProviderFailure) {
    try respond(to: "deleteAccount") { database, now in
      let account = try session(of: accessToken.value, database, at: now).account
      _ = try prove(password, of: account, address: account.email, database, at: now)
      try remove(account, database, at: now)
    }
  }

  /// Removes an account, its messages first; the audit has `detail` beside it, nil where its user has deleted it.
  ///
  /// - Throws: what the database and the outbox say.
  func remove(_ account: Account, detail: String? = nil, _ database: LocalDatabase, at now: Timestamp) throws {
    let messages = try database.messages.numbers(account: account.id)
    delivery.withdraw(messages)
    try database.removeMessages(messages)
    try database.connection.transaction {
      try database.accounts.remove(account.id)
      try database.throttle.clear(database.throttleKey(account.email))
      try database.audit.append(.accountDeleted, account: account.id, detail: detail, at: now)
    }
  }
}
