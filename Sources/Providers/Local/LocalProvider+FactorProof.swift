import BrokerCore
import BrokerProtocol
import SQLite
import SecretMemory

/// Proofs of a new second factor by its first code.
extension LocalProvider {
  /// A factor that has shown its first code.
  enum FactorProof {
    /// An authenticator app, with the time step of that code.
    case app(TOTPTable.App)
    /// A phone number.
    case phone(PhoneNumber)
    /// The account's e-mail address.
    case email
  }

  /// Checks the first code, without using it up; nil for a wrong one.
  ///
  /// - Throws: `ProviderFailure.refused` with `flowNotFound` where the account has another number or address by now; what
  ///   the memory says.
  func proof(
    _ code: Secret, in enrolment: Enrolment, of account: Account, _ database: LocalDatabase, at now: Timestamp
  ) throws -> FactorProof? {
    switch enrolment.source {
    case .app(let totp):
      return try totp.acceptedStep(of: code, at: now, after: nil).map { .app(TOTPTable.App(totp: totp, lastStep: $0)) }
    case .message(let sent):
      guard database.fingerprint.matches(sent.fingerprint, code, .code, context: enrolment.handle) else { return nil }
      // A number waits beside the one that gets the codes; any other one is the account's already.
      let isPresent = sent.destination == account.destination(sent.method)?.address
      guard isPresent || sent.method == .sms && account.provenFactor == .sms else {
        throw ProviderFailure.refused(.flowNotFound)
      }
      return sent.method == .email ? .email : .phone(PhoneNumber(stored: sent.destination))
    }
  }

  /// Makes a factor an account's: logins that wait for another one end.
  func enrol(
    _ proof: FactorProof, of account: Account, _ database: LocalDatabase, at now: Timestamp
  ) throws -> Account {
    let enrolled = Self.applying(proof, to: account, at: now)
    try database.connection.transaction {
      if case .app(let app) = proof {
        try database.totp.save(app, of: account.id, at: now)
      } else {
        try database.totp.remove(account: account.id)
      }
      try database.enrolments.remove(account: account.id)
      _ = try database.accounts.update(enrolled)
      try database.flows.remove(account: account.id)
      if enrolled.phone != account.phone {
        try database.audit.append(.phoneNumberChanged, account: account.id, at: now)
      }
      try database.audit.append(
        .factorChanged, account: account.id, detail: enrolled.secondFactor.rawValue, at: now)
    }
    for purpose in [MessagePurpose.login, .enrol] { removeMessages(of: account.id, purpose, database) }
    if enrolled.phone != account.phone { notify(account, of: .phoneNumberChanged, database, at: now) }
    notify(enrolled, of: .secondFactorChanged, database, at: now)
    return enrolled
  }

  private static func applying(_ proof: FactorProof, to account: Account, at now: Timestamp) -> Account {
    var enrolled = account
    switch proof {
    case .app: enrolled.secondFactor = .totp
    case .phone(let phone):
      enrolled.phone = phone
      enrolled.phoneVerifiedAt = now
      enrolled.secondFactor = .sms
    case .email:
      enrolled.emailVerifiedAt = account.emailVerifiedAt ?? now
      enrolled.secondFactor = .email
    }
    return enrolled
  }
}
