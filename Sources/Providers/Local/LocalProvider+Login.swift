package import BrokerCore
import BrokerProtocol
import SQLite
import SecretMemory

/// Logins with a password.
extension LocalProvider {
  /// Compares a password, and begins a session or asks for a code.
  ///
  /// An unknown address takes as long as a wrong password and is refused in the same way. Where the code cannot be
  /// delivered, the login goes on all the same: with another code, or with a backup code.
  ///
  /// - Throws: `.refused` with `missingCredential` or `validationFailed` and the fields; `tooManyAttempts` with the time
  ///   to wait; `invalidCredentials`; after the right password, `accountLocked` for a disabled account, `emailUnverified`,
  ///   and `rateLimited` with the time to wait where no other code may be sent. `.transient(.providerUnavailable)`.
  package func login(_ credentials: Credentials) async throws(ProviderFailure) -> LoginOutcome {
    let (input, password) = try Self.required(credentials)
    guard let scopes = ScopeList.joined(credentials.scopes) else {
      throw .refused(.validationFailed, fields: ["scopes"])
    }
    // No account can have such an address: the refusal reveals nothing about any.
    guard let email = EmailAddress(input) else { throw .refused(.invalidCredentials) }
    let (outcome, dispatch) = try respond(to: "login") { database, now in
      let found = try database.accounts.find(email: email)
      let account = try prove(password, of: found, address: email.text, database, at: now)
      try requireAccess(account, database, at: now)
      return try proceed(account, factor: account.provenFactor, scopes: scopes, database, at: now)
    }
    _ = await deliver(dispatch)
    return outcome
  }

  private static func required(_ credentials: Credentials) throws(ProviderFailure) -> (email: String, Secret) {
    if let email = credentials.email, let password = credentials.password, !email.isEmpty, password.byteCount > 0 {
      return (email, password)
    }
    var missing: [String] = []
    if credentials.email?.isEmpty ?? true { missing.append("email") }
    if credentials.password.map({ $0.byteCount == 0 }) ?? true { missing.append("password") }
    throw .refused(.missingCredential, fields: missing)
  }

  /// Refuses an account that may not log in although its password was right.
  private func requireAccess(_ account: Account, _ database: LocalDatabase, at now: Timestamp) throws {
    guard account.disabledAt == nil else {
      try database.audit.append(.loginRefused, account: account.id, detail: "the account is disabled", at: now)
      throw ProviderFailure.refused(.accountLocked)
    }
    guard account.emailVerifiedAt == nil, configuration.emailVerification == .required else { return }
    try database.audit.append(.loginRefused, account: account.id, detail: "the address is not verified", at: now)
    try sendVerificationAgain(to: account, database, at: now)
    throw ProviderFailure.refused(.emailUnverified)
  }

  /// Continues a login after a correct password: with a code by the factor, or a session where there is none.
  ///
  /// - Returns: how far the login has come, and the message with its code, where a channel is still to be given it.
  func proceed(
    _ account: Account, factor: SecondFactor, scopes: String, _ database: LocalDatabase, at now: Timestamp
  ) throws -> (LoginOutcome, Dispatch?) {
    if let method = factor.method {
      let (challenge, dispatch) = try beginFlow(account, by: method, scopes: scopes, database, at: now)
      return (.otpRequired(challenge), dispatch)
    }
    let session = try database.connection.transaction {
      try beginSession(account, scopes: scopes, database, at: now)
    }
    return (.authenticated(session), nil)
  }
}
