package import BrokerCore
package import BrokerProtocol
import SQLite

/// The methods for the owner of the state directory: accounts, sessions and messages.
///
/// Resets are in `LocalProvider+Resets.swift`, tokens and keys in `LocalProvider+Introspection.swift`, the audit in
/// `LocalProvider+Audit.swift`.
extension LocalProvider: AccountDirectory {
  /// The newest accounts, by their addresses.
  ///
  /// - Throws: `.transient(.providerUnavailable)`, as every function here.
  package func users() throws(ProviderFailure) -> [LocalUser] {
    try perform { database, now in try listing(database, at: now).users() }
  }

  /// Makes an account without a login; where addresses must be verified, a token for that is sent.
  ///
  /// - Throws: `.refused` with `validationFailed` and the fields, `emailTaken`, or `rateLimited` and the time to wait where
  ///   its address was sent too much.
  package func addUser(_ registration: Registration) throws(ProviderFailure) -> LocalUser {
    try perform { database, now in
      let account = try addAccount(registration, logsIn: false, database, at: now)
      if configuration.emailVerification == .required {
        try sendToken(.verify, to: account, database, at: now)
      }
      return try user(account, database, at: now)
    }
  }

  /// Lets an account log in, or keeps it from that; to disable it revokes its sessions and cancels its login, the enrolment
  /// of an app and the change of its address.
  ///
  /// - Throws: `.refused` with `validationFailed` and the field `user`.
  package func setEnabled(_ isEnabled: Bool, user name: String) throws(ProviderFailure) -> LocalUser {
    try perform { database, now in
      let account = try account(named: name, database)
      if isEnabled, account.disabledAt != nil { try enable(account, database, at: now) }
      if !isEnabled, account.disabledAt == nil { try disable(account, database, at: now) }
      return try user(account, database, at: now)
    }
  }

  private func enable(_ account: Account, _ database: LocalDatabase, at now: Timestamp) throws {
    try database.connection.transaction {
      try database.accounts.setDisabled(at: nil, of: account.id)
      try database.audit.append(.accountEnabled, account: account.id, at: now)
    }
  }

  private func disable(_ account: Account, _ database: LocalDatabase, at now: Timestamp) throws {
    try database.connection.transaction {
      try database.accounts.setDisabled(at: now, of: account.id)
      try database.families.revokeAll(account: account.id, at: now)
      try database.flows.remove(account: account.id)
      try database.enrolments.remove(account: account.id)
      try database.mailTokens.remove(.change, of: account.id)
      try database.audit.append(.accountDisabled, account: account.id, at: now)
    }
    for purpose in [MessagePurpose.login, .change, .enrol] { removeMessages(of: account.id, purpose, database) }
  }

  /// The sessions that can still be refreshed, the newest first: of one account, or of all.
  ///
  /// - Throws: `.refused` with `validationFailed` and the field `user`.
  package func sessions(of name: String?) throws(ProviderFailure) -> [LocalSession] {
    try perform { database, now in
      let account = try name.map { try self.account(named: $0, database) }
      return try listing(database, at: now).sessions(of: account?.id, limit: ListLocalSessions.largestCount)
    }
  }

  /// Revokes one session, or all of an account.
  ///
  /// - Throws: `.refused` with `validationFailed` and what is not there: `user`, `session`, or both where neither is given.
  package func revokeSessions(
    of name: String?, session: String?
  ) throws(ProviderFailure) -> (count: Int, user: String) {
    try perform { database, now in
      let account = try name.map { try self.account(named: $0, database) }
      let family = try session.map { try self.family($0, of: account, database) }
      guard let owner = family?.account ?? account?.id else {
        throw ProviderFailure.refused(.validationFailed, fields: ["user", "session"])
      }
      let sessions = try listing(database, at: now).sessions(of: owner, limit: nil)
      try database.connection.transaction {
        if let family {
          try database.families.revoke(family: family.id, at: now)
        } else {
          try endSessions(of: owner, database, at: now)
        }
        try database.audit.append(.sessionsRevoked, account: owner, detail: family?.id ?? "all", at: now)
      }
      if family == nil { removeMessages(of: owner, .change, database) }
      return (sessions.count { family == nil || $0.id == family?.id }, owner)
    }
  }

  /// The newest messages in the outbox, the oldest first.
  package func messages() throws(ProviderFailure) -> [LocalMessage] {
    try perform { database, now in
      try listing(database, at: now).messages().compactMap { entry in
        try database.files.outbox.message(entry.number, expiresAt: entry.expiresAt)
      }
    }
  }

  /// The reader of the lists at a moment.
  func listing(_ database: LocalDatabase, at now: Timestamp) -> AccountListing {
    AccountListing(
      connection: database.connection, idleLifetime: configuration.refreshTokenIdleLifetime, now: now)
  }

  /// An account as its owner sees it.
  ///
  /// - Throws: what the database says.
  func user(_ account: Account, _ database: LocalDatabase, at now: Timestamp) throws -> LocalUser {
    guard let user = try listing(database, at: now).users(id: account.id).first else { throw LocalStoreFault.damaged }
    return user
  }

  /// The account with an identifier or an e-mail address.
  func account(named name: String, _ database: LocalDatabase) throws -> Account {
    if let account = try database.accounts.find(id: name) { return account }
    if let email = EmailAddress(name), let account = try database.accounts.find(email: email) { return account }
    throw ProviderFailure.refused(.validationFailed, fields: ["user"])
  }

  /// A session by its identifier, whosever it is unless an account is named.
  private func family(_ id: String, of account: Account?, _ database: LocalDatabase) throws -> TokenFamily {
    guard let family = try database.families.find(id: id), account == nil || account?.id == family.account else {
      throw ProviderFailure.refused(.validationFailed, fields: ["session"])
    }
    return family
  }
}
