import BrokerProtocol

/// A code that was right, with the stored value by which it is right only once.
enum AcceptedCode {
  /// The code of a message: it ends with its flow.
  case sent(OTPChallenge.Method)
  /// The code of an authenticator app, by its time step.
  case app(step: Int64)
  /// A backup code, by its fingerprint.
  case backup([UInt8])

  /// The authentication methods of the session: password and code.
  var methods: AuthenticationMethods {
    switch self {
    case .sent(.sms): .passwordAndSMS
    case .sent, .app, .backup: .passwordAndCode
    }
  }

  /// Uses the code of an account up; part of the transaction that begins the session.
  ///
  /// - Throws: what the database says.
  func use(of account: String, _ database: LocalDatabase, at now: Timestamp) throws {
    switch self {
    // A user who has the code reads what is sent there.
    case .sent(.sms): try database.accounts.setPhoneVerified(account, at: now)
    case .sent(.email): try database.accounts.setEmailVerified(account, at: now)
    case .sent(.totp): break
    case .app(let step): try database.totp.setLastStep(step, of: account)
    case .backup(let code):
      try database.backupCodes.use(code, at: now)
      try database.audit.append(.backupCodeUsed, account: account, at: now)
    }
  }
}
