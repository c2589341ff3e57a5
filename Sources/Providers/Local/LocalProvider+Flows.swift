import BrokerCore
import BrokerProtocol
import SQLite
import SecretMemory

/// Common rules of one-time codes and backup codes: each is a guess at a pending login, and all guesses count together.
extension LocalProvider {
  /// How many more wrong codes a flow accepts.
  func attemptsRemaining(in flow: OTPFlow) -> Int { max(0, configuration.otp.maxAttempts - flow.attempts) }

  /// The flow of a handle, unless it has ended.
  ///
  /// - Throws: `ProviderFailure.refused` with `flowNotFound` or `otpExpired`; what the database says.
  func openFlow(_ handle: Secret, _ database: LocalDatabase, at now: Timestamp) throws -> OTPFlow {
    guard let flow = try database.flows.find(database.fingerprint.of(handle, .handle)) else {
      throw ProviderFailure.refused(.flowNotFound)
    }
    guard now < flow.expiresAt else {
      removeMessages(of: flow.account, .login, database)
      throw ProviderFailure.refused(.otpExpired)
    }
    return flow
  }

  /// Counts a code that is about to be compared, durably.
  ///
  /// - Returns: whose login it is.
  /// - Throws: `ProviderFailure.refused` with `tooManyAttempts` where no more may be compared, which ends the flow; what
  ///   the database says.
  func countGuess(in flow: OTPFlow, _ database: LocalDatabase, at now: Timestamp) throws -> Account {
    guard attemptsRemaining(in: flow) > 0, let account = try database.accounts.find(id: flow.account) else {
      try end(flow, database)
      throw ProviderFailure.refused(.tooManyAttempts, retryAfter: max(.zero, flow.resendAt - now))
    }
    try database.flows.countAttempt(flow.handle)
    return account
  }

  /// Uses a right code up and begins the session, or does neither.
  ///
  /// - Throws: `ProviderFailure.outcomeUnknown(.providerUnavailable)` where the commit has reported an error and the login
  ///   is gone all the same: the code is used up then; what the database says.
  func redeem(
    _ code: AcceptedCode, _ flow: OTPFlow, _ account: Account, _ database: LocalDatabase, at now: Timestamp
  ) throws -> ProviderSession {
    let session: ProviderSession
    do {
      session = try database.connection.transaction {
        try code.use(of: account.id, database, at: now)
        try database.flows.remove(flow.handle)
        guard let account = try database.accounts.find(id: account.id) else {
          throw ProviderFailure.refused(.flowNotFound)
        }
        return try beginSession(account, scopes: flow.scopes, methods: code.methods, database, at: now)
      }
    } catch {
      guard try database.flows.find(flow.handle) != nil else {
        throw ProviderFailure.outcomeUnknown(.providerUnavailable)
      }
      throw error
    }
    removeMessages(of: account.id, .login, database)
    return session
  }

  /// Counts a wrong code against its account, and ends the flow with the last one.
  ///
  /// - Throws: `ProviderFailure.refused` with the kind and the attempts that remain, or `tooManyAttempts` and the time to
  ///   wait; what the database says.
  func refuse(
    _ flow: OTPFlow, _ account: Account, _ kind: ErrorKind, _ database: LocalDatabase, at now: Timestamp
  ) throws -> Never {
    let address = database.throttleKey(account.email)
    try database.connection.transaction {
      try database.throttle.recordFailure(address, at: now)
      try database.audit.append(.codeRefused, account: account.id, detail: kind.rawValue, at: now)
    }
    // The flow was read before this code was counted.
    let remaining = attemptsRemaining(in: flow) - 1
    guard remaining <= 0 else { throw ProviderFailure.refused(kind, attemptsRemaining: remaining) }
    try end(flow, database)
    throw ProviderFailure.refused(.tooManyAttempts, retryAfter: try database.throttle.wait(address, at: now))
  }

  private func end(_ flow: OTPFlow, _ database: LocalDatabase) throws {
    try database.flows.remove(flow.handle)
    removeMessages(of: flow.account, .login, database)
  }
}
