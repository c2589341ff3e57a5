package import BrokerCore
package import BrokerProtocol
import SQLite
package import SecretMemory

/// The methods by which the owner of the state directory helps users who have lost something, and acts after an
/// incident.
extension LocalProvider {
  /// The detail in the audit that marks a change as the owner's and not the user's.
  static let ownerDetail = "owner"

  /// Gives an account a new password, removes its second factor, or both; its sessions end, and its user is notified.
  ///
  /// - Throws: `.refused` with `validationFailed` and the fields; `.transient(.providerUnavailable)`.
  package func reset(
    _ name: String, password: Secret?, removesFactor: Bool
  ) throws(ProviderFailure) -> LocalUser {
    try perform { database, now in
      var account = try account(named: name, database)
      guard password != nil || removesFactor else {
        throw ProviderFailure.refused(.validationFailed, fields: ["password", "removeSecondFactor"])
      }
      if removesFactor { account.secondFactor = .off }
      let policy = account.passwordPolicy
      let accepted = try password.map { password throws in
        let verdict = try policy.judge(password, email: account.email, name: account.name)
        guard let accepted = verdict.password else {
          throw ProviderFailure.refused(.validationFailed, fields: ["password"])
        }
        return accepted
      }
      if removesFactor { try removeFactor(of: account, database, at: now) }
      if let accepted { try setPassword(accepted, of: account, with: .owner, database, at: now) }
      return try user(account, database, at: now)
    }
  }

  /// Stores that an account has no second factor any more, and ends the logins that were begun with the one before.
  private func removeFactor(of account: Account, _ database: LocalDatabase, at now: Timestamp) throws {
    try database.connection.transaction {
      _ = try database.accounts.update(account)
      try database.totp.remove(account: account.id)
      try database.backupCodes.replace(with: [], of: account.id)
      try database.enrolments.remove(account: account.id)
      try database.flows.remove(account: account.id)
      try endSessions(of: account.id, database, at: now)
      try database.audit.append(.factorChanged, account: account.id, detail: Self.ownerDetail, at: now)
    }
    for purpose in [MessagePurpose.login, .change, .enrol] { removeMessages(of: account.id, purpose, database) }
    notify(account, of: .secondFactorChanged, database, at: now)
  }

  /// Deletes an account and everything that belongs to it; its records in the audit stay.
  ///
  /// - Throws: `.refused` with `validationFailed` and the field `user`; `.transient(.providerUnavailable)`.
  @discardableResult package func delete(_ name: String) throws(ProviderFailure) -> String {
    try perform { database, now in
      let account = try account(named: name, database)
      try remove(account, detail: Self.ownerDetail, database, at: now)
      return account.id
    }
  }

  /// Revokes every session of every account, and cancels the changes of addresses that were begun in them.
  ///
  /// - Throws: `.transient(.providerUnavailable)`.
  package func revokeAllSessions() throws(ProviderFailure) -> Int {
    try perform { database, now in
      let sessions = try listing(database, at: now).sessions(limit: nil)
      let owners = Set(sessions.map(\.user))
      try database.connection.transaction {
        try database.families.revokeAll(at: now)
        for owner in owners {
          try database.mailTokens.remove(.change, of: owner)
          try database.audit.append(.sessionsRevoked, account: owner, detail: "all", at: now)
        }
      }
      for owner in owners { removeMessages(of: owner, .change, database) }
      return sessions.count
    }
  }
}
