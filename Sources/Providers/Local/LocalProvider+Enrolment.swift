package import BrokerCore
package import BrokerProtocol
import SQLite
import Sealing
package import SecretMemory

/// The enrolment of second factors: authenticator apps (RFC 6238), phone numbers and e-mail addresses.
extension LocalProvider: FactorEnrolmentProvider {
  /// The provider's name in an authenticator app.
  private static let issuerName = "AuthBroker"

  /// Begins to wait for the first code of a factor; part of a transaction, after which the message is posted.
  ///
  /// - Returns: the enrolment, and the message with its code; nil where an app makes the codes.
  /// - Throws: `ProviderFailure.refused` with `rateLimited` and the time to wait where the account was sent as much as it
  ///   may be; what the database and the memory say.
  func beginEnrolment(
    _ request: ProfileEdit.Request, _ database: LocalDatabase, at now: Timestamp
  ) throws -> (ProviderEnrolment, NumberedMessage?) {
    let handle = try RandomBytes.secret(count: 32)
    switch request {
    case .app(let account): return (try beginApp(handle, of: account, database, at: now), nil)
    case .message(let account, let method):
      return try beginMessage(handle, to: account, by: method, database, at: now)
    }
  }

  /// Draws a secret for an app.
  private func beginApp(
    _ handle: Secret, of account: Account, _ database: LocalDatabase, at now: Timestamp
  ) throws -> ProviderEnrolment {
    let totp = TOTP(secret: try TOTP.randomSecret())
    let enrolment = Enrolment(
      handle: database.fingerprint.of(handle, .handle), account: account.id, source: .app(totp),
      expiresAt: now + Enrolment.appLifetime)
    try database.enrolments.save(enrolment)
    return ProviderEnrolment(
      flow: handle, method: .totp, uri: try OTPAuthURI.make(totp, issuer: Self.issuerName, account: account.email),
      expiresAt: enrolment.expiresAt, otpLength: enrolment.codeLength, attemptsRemaining: attemptsLeft(to: enrolment))
  }

  /// Makes a code for a number or an address that is to be proven.
  private func beginMessage(
    _ handle: Secret, to account: Account, by method: OTPChallenge.Method, _ database: LocalDatabase, at now: Timestamp
  ) throws -> (ProviderEnrolment, NumberedMessage?) {
    guard let destination = account.destination(method) else { throw ProviderFailure.unsupported }
    try requireRoom(for: .enrol, to: account, by: method, database, at: now)
    let rules = configuration.otp
    let code = try Self.randomCode(digits: rules.length)
    let fingerprint = database.fingerprint.of(handle, .handle)
    let sent = Enrolment.SentCode(
      method: method, destination: destination.address,
      fingerprint: database.fingerprint.of(code, .code, context: fingerprint), length: rules.length)
    let enrolment = Enrolment(
      handle: fingerprint, account: account.id, source: .message(sent), expiresAt: now + rules.lifetime)
    try database.enrolments.save(enrolment)
    try database.audit.append(.codeSent, account: account.id, detail: method.rawValue, at: now)
    let message = try number(
      .enrolmentCode(code, lifetime: rules.lifetime), to: account, by: method, purpose: .enrol,
      expiresAt: enrolment.expiresAt, database, at: now)
    let described = ProviderEnrolment(
      flow: handle, method: method, maskedDestination: destination.masked, expiresAt: enrolment.expiresAt,
      otpLength: sent.length, attemptsRemaining: attemptsLeft(to: enrolment))
    return (described, message)
  }

  /// Compares the first code of a factor; a right one makes it the account's, and is used up.
  ///
  /// Input that cannot be a code is refused without being counted. Every other attempt is counted, durably, before it is
  /// compared.
  ///
  /// - Throws: `.refused` with `flowNotFound`; `otpExpired`; `otpInvalid` with the attempts that remain;
  ///   `tooManyAttempts` for the last wrong code, which ends the enrolment. `.transient(.providerUnavailable)`.
  package func confirmEnrolment(flow handle: Secret, code: Secret) throws(ProviderFailure) -> User {
    try respond(to: "confirmEnrolment") { database, now in
      let (enrolment, account) = try openEnrolment(handle, database, at: now)
      let remaining = attemptsLeft(to: enrolment)
      guard Self.isCode(code, digits: enrolment.codeLength) else {
        throw ProviderFailure.refused(.otpInvalid, attemptsRemaining: remaining)
      }
      try database.enrolments.countAttempt(enrolment.handle)
      guard let proof = try proof(code, in: enrolment, of: account, database, at: now) else {
        guard remaining <= 1 else {
          throw ProviderFailure.refused(.otpInvalid, attemptsRemaining: remaining - 1)
        }
        try database.enrolments.remove(account: account.id)
        removeMessages(of: account.id, .enrol, database)
        throw ProviderFailure.refused(.tooManyAttempts)
      }
      return try enrol(proof, of: account, database, at: now).user
    }
  }

  private func openEnrolment(
    _ handle: Secret, _ database: LocalDatabase, at now: Timestamp
  ) throws -> (Enrolment, Account) {
    guard let enrolment = try database.enrolments.find(database.fingerprint.of(handle, .handle)),
      attemptsLeft(to: enrolment) > 0,
      let account = try database.accounts.find(id: enrolment.account), account.disabledAt == nil
    else { throw ProviderFailure.refused(.flowNotFound) }
    guard now < enrolment.expiresAt else { throw ProviderFailure.refused(.otpExpired) }
    return (enrolment, account)
  }

  /// How many more wrong codes an enrolment accepts.
  private func attemptsLeft(to enrolment: Enrolment) -> Int {
    switch enrolment.source {
    case .app: max(0, Enrolment.maxAppAttempts - enrolment.attempts)
    case .message: max(0, configuration.otp.maxAttempts - enrolment.attempts)
    }
  }
}
