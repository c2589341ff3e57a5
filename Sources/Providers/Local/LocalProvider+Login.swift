package import BrokerCore
import BrokerProtocol
import SQLite
import Sealing
import SecretMemory

/// Accounts and passwords.
extension LocalProvider: RegistrationProvider {
  /// A name longer than that is no name.
  private static let largestNameByteCount = 256

  /// Makes an account and logs in: at once, or with a code where there is a phone number for it.
  ///
  /// - Throws: `.refused` with `validationFailed` and the fields, or `emailTaken`; `.transient(.providerUnavailable)`.
  package func register(_ registration: Registration) throws(ProviderFailure) -> LoginOutcome {
    try respond(to: "register") { database, now in
      let account = try makeAccount(registration, database)
      guard try database.accounts.insert(account, at: now) else { throw ProviderFailure.refused(.emailTaken) }
      return try proceed(account, scopes: "", database, at: now)
    }
  }

  /// Compares a password, and begins a session or asks for a code.
  ///
  /// An unknown address takes as long as a wrong password and is refused in the same way.
  ///
  /// - Throws: `.refused` with `missingCredential` or `validationFailed` and the fields, `tooManyAttempts` with the time
  ///   to wait, or `invalidCredentials`; `.transient(.providerUnavailable)`.
  package func login(_ credentials: Credentials) throws(ProviderFailure) -> LoginOutcome {
    let (input, password) = try Self.required(credentials)
    guard let scopes = ScopeList.joined(credentials.scopes) else {
      throw .refused(.validationFailed, fields: ["scopes"])
    }
    guard let email = EmailAddress(input), password.byteCount <= PasswordRule.largestByteCount else {
      // No account can have these: the refusal reveals nothing about any.
      throw .refused(.invalidCredentials)
    }
    return try respond(to: "login") { database, now in
      let address = database.throttleKey(email.text)
      if let wait = try database.throttle.wait(address, at: now) {
        throw ProviderFailure.refused(.tooManyAttempts, retryAfter: wait)
      }
      let account = try database.accounts.find(email: email)
      guard try isCorrect(password, of: account), let account else {
        try database.throttle.recordFailure(address, at: now)
        throw ProviderFailure.refused(.invalidCredentials)
      }
      try renewHash(of: account, password, database)
      return try proceed(account, scopes: scopes, database, at: now)
    }
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

  private func isCorrect(_ password: Secret, of account: Account?) throws -> Bool {
    guard let account else { return try passwordHash.verifyAgainstNothing(password) }
    return try passwordHash.verify(password, against: account.passwordHash.span)
  }

  /// Hashes an account's password again where it was hashed with other work than today's.
  private func renewHash(of account: Account, _ password: Secret, _ database: LocalDatabase) throws {
    guard try passwordHash.needsRehash(account.passwordHash.span) else { return }
    try database.accounts.setPasswordHash(try passwordHash.hash(password), of: account.id)
  }

  /// Checks everything before it hashes, and names all fields that are wrong at once.
  private func makeAccount(_ registration: Registration, _ database: LocalDatabase) throws -> Account {
    let email = EmailAddress(registration.email)
    let phone = registration.phoneNumber.flatMap { PhoneNumber($0) }
    let name = registration.name.flatMap { $0.isEmpty ? nil : $0 }
    var wrong: [String] = []
    if email == nil { wrong.append("email") }
    if !PasswordRule.accepts(registration.password) { wrong.append("password") }
    if let name, name.utf8.count > Self.largestNameByteCount { wrong.append("name") }
    if registration.phoneNumber != nil, phone == nil { wrong.append("phoneNumber") }
    guard let email, wrong.isEmpty else { throw ProviderFailure.refused(.validationFailed, fields: wrong) }
    guard try database.accounts.find(email: email) == nil else { throw ProviderFailure.refused(.emailTaken) }
    return Account(
      id: Self.identifier(), email: email.text, name: name, phone: phone,
      passwordHash: try passwordHash.hash(registration.password))
  }

  /// What follows a correct password.
  private func proceed(
    _ account: Account, scopes: String, _ database: LocalDatabase, at now: Timestamp
  ) throws -> LoginOutcome {
    if let phone = account.phone {
      return .otpRequired(try beginFlow(account, phone, scopes: scopes, database, at: now))
    }
    return .authenticated(
      try database.connection.transaction { try beginSession(account, scopes: scopes, database, at: now) })
  }

  /// A name for a row that cannot be guessed: 128 random bits.
  static func identifier() -> String {
    String(decoding: Base64URL.encode(RandomBytes.array(count: 16).span), as: UTF8.self)
  }
}
