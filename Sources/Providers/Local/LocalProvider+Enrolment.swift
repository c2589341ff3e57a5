package import BrokerCore
package import BrokerProtocol
import SQLite
import Sealing
package import SecretMemory

/// The enrolment of authenticator apps (RFC 6238).
extension LocalProvider: FactorEnrolmentProvider {
  /// What an app calls this provider.
  private static let issuerName = "AuthBroker"

  /// Draws a secret for an app, which counts from its first right code on; part of a transaction.
  ///
  /// - Throws: what the database and the memory say.
  func beginEnrolment(
    of account: Account, _ database: LocalDatabase, at now: Timestamp
  ) throws -> ProviderEnrolment {
    let handle = try RandomBytes.secret(count: 32)
    let enrolment = TOTPEnrolment(
      handle: database.fingerprint.of(handle, .handle), account: account.id,
      totp: TOTP(secret: try TOTP.randomSecret()), expiresAt: now + TOTPEnrolment.lifetime)
    try database.enrolments.save(enrolment)
    return ProviderEnrolment(
      flow: handle, uri: try OTPAuthURI.make(enrolment.totp, issuer: Self.issuerName, account: account.email),
      expiresAt: enrolment.expiresAt, otpLength: TOTP.standardDigits, attemptsRemaining: TOTPEnrolment.maxAttempts)
  }

  /// Compares the first code of an app; a right one makes the app the account's second factor, and is used up.
  ///
  /// Input that cannot be a code is refused without being counted. Every other attempt is counted, durably, before it is
  /// compared.
  ///
  /// - Throws: `.refused` with `flowNotFound`; `otpExpired`; `otpInvalid` with the attempts that remain;
  ///   `tooManyAttempts` for the last wrong code, which ends the enrolment. `.transient(.providerUnavailable)`.
  package func confirmEnrolment(flow handle: Secret, code: Secret) throws(ProviderFailure) -> User {
    try respond(to: "confirmEnrolment") { database, now in
      let (enrolment, account) = try openEnrolment(handle, database, at: now)
      let remaining = TOTPEnrolment.maxAttempts - enrolment.attempts
      guard Self.isCode(code, digits: enrolment.totp.digits) else {
        throw ProviderFailure.refused(.otpInvalid, attemptsRemaining: remaining)
      }
      try database.enrolments.countAttempt(enrolment.handle)
      guard let step = try enrolment.totp.acceptedStep(of: code, at: now, after: nil) else {
        guard remaining <= 1 else {
          throw ProviderFailure.refused(.otpInvalid, attemptsRemaining: remaining - 1)
        }
        try database.enrolments.remove(account: account.id)
        throw ProviderFailure.refused(.tooManyAttempts)
      }
      return try enrol(TOTPTable.App(totp: enrolment.totp, lastStep: step), of: account, database, at: now).user
    }
  }

  private func openEnrolment(
    _ handle: Secret, _ database: LocalDatabase, at now: Timestamp
  ) throws -> (TOTPEnrolment, Account) {
    guard let enrolment = try database.enrolments.find(database.fingerprint.of(handle, .handle)),
      enrolment.attempts < TOTPEnrolment.maxAttempts,
      let account = try database.accounts.find(id: enrolment.account), account.disabledAt == nil
    else { throw ProviderFailure.refused(.flowNotFound) }
    guard now < enrolment.expiresAt else { throw ProviderFailure.refused(.otpExpired) }
    return (enrolment, account)
  }

  /// Makes an app the second factor of an account: logins that wait for another one end.
  private func enrol(
    _ app: TOTPTable.App, of account: Account, _ database: LocalDatabase, at now: Timestamp
  ) throws -> Account {
    var enrolled = account
    enrolled.secondFactor = .totp
    try database.connection.transaction {
      try database.totp.save(app, of: account.id, at: now)
      try database.enrolments.remove(account: account.id)
      _ = try database.accounts.update(enrolled)
      try database.flows.remove(account: account.id)
      try database.audit.append(.factorChanged, account: account.id, detail: SecondFactor.totp.rawValue, at: now)
    }
    removeMessages(of: account.id, .login, database)
    notify(enrolled, of: .secondFactorChanged, database, at: now)
    return enrolled
  }
}
