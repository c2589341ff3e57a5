package import BrokerCore
import BrokerProtocol
import SQLite
import Sealing
import TextCoding

/// New accounts.
extension LocalProvider: RegistrationProvider {
  /// Makes an account, and logs in as ``login(_:)`` does, or asks for the verification of its address.
  ///
  /// - Throws: `.refused` with `validationFailed` and the fields, `emailTaken`, or `rateLimited` and the time to wait where
  ///   its address was sent too much; `.transient(.providerUnavailable)`.
  package func register(_ registration: Registration) async throws(ProviderFailure) -> LoginOutcome {
    let (outcome, dispatch) = try respond(to: "register") { database, now -> (LoginOutcome, Dispatch?) in
      let account = try addAccount(registration, logsIn: true, database, at: now)
      guard configuration.emailVerification == .off else {
        try sendToken(.verify, to: account, database, at: now)
        return (.emailVerificationRequired, nil)
      }
      // The first code proves the phone number.
      return try proceed(account, factor: account.secondFactor, scopes: "", database, at: now)
    }
    _ = await deliver(dispatch)
    return outcome
  }

  /// Adds an account, unless its first message cannot be sent: it could not be registered again.
  ///
  /// - Parameters:
  ///   - registration: what is known of it.
  ///   - logsIn: whether a login follows, whose code is sent.
  ///   - database: the provider's tables.
  ///   - now: when it is made.
  /// - Returns: the account.
  /// - Throws: `ProviderFailure.refused` with `validationFailed` and all fields that are wrong, `emailTaken`, or
  ///   `rateLimited` and the time to wait where its address was sent too much; what the database and the memory say.
  func addAccount(
    _ registration: Registration, logsIn: Bool, _ database: LocalDatabase, at now: Timestamp
  ) throws -> Account {
    let account = try makeAccount(registration, database, at: now)
    if configuration.emailVerification == .required {
      try requireRoom(for: .verify, to: account, by: .email, database, at: now)
    } else if logsIn, let method = account.secondFactor.method {
      try requireRoom(for: .login, to: account, by: method, database, at: now)
    }
    let isAdded = try database.connection.transaction {
      guard try database.accounts.insert(account) else { return false }
      try database.audit.append(.accountRegistered, account: account.id, at: now)
      return true
    }
    guard isAdded else { throw ProviderFailure.refused(.emailTaken) }
    return account
  }

  /// Checks everything before it hashes.
  private func makeAccount(
    _ registration: Registration, _ database: LocalDatabase, at now: Timestamp
  ) throws -> Account {
    let email = EmailAddress(registration.email)
    let phone = registration.phoneNumber.flatMap { PhoneNumber($0) }
    let given = registration.name.flatMap { $0.isEmpty ? nil : $0 }
    let name = given.flatMap { AccountName($0)?.text }
    let policy = PasswordPolicy(hasSecondFactor: registration.phoneNumber != nil)
    let verdict = try policy.judge(registration.password, email: email?.text ?? registration.email, name: name)
    var wrong: [String] = []
    if email == nil { wrong.append("email") }
    if verdict.password == nil { wrong.append("password") }
    if given != nil, name == nil { wrong.append("name") }
    if registration.phoneNumber != nil, phone == nil { wrong.append("phoneNumber") }
    guard let email, let password = verdict.password, wrong.isEmpty else {
      throw ProviderFailure.refused(.validationFailed, fields: wrong)
    }
    guard try database.accounts.find(email: email) == nil else { throw ProviderFailure.refused(.emailTaken) }
    return Account(
      id: Self.identifier(), email: email.text, name: name, phone: phone,
      passwordHash: try passwordHash.hash(password), secondFactor: phone == nil ? .off : .sms, createdAt: now)
  }

  /// A name for a row that cannot be guessed: 128 random bits.
  static func identifier() -> String {
    String(decoding: Base64.encode(RandomBytes.array(count: 16).span, as: .url), as: UTF8.self)
  }
}
