package import BrokerCore
package import BrokerProtocol
import SQLite

/// Changes of accounts.
extension LocalProvider: ProfileUpdateProvider {
  /// Changes `name`, `email`, `phoneNumber` and `twoFactor`, all of them or nothing.
  ///
  /// A change counts at once, but for two. A second factor counts once its first code has come back, that of an app or one
  /// that is sent to a number or address that is not proven; till then the account keeps its factor, and the number that
  /// this one goes to. And a new e-mail address is sent a token where addresses must be verified, or where login codes go
  /// to the present one: until that comes back the account keeps the old one, another address takes its place, and the
  /// present one gives it up. Where codes go or come from has changed, a login that waits for one ends. The owner is told
  /// at the present address, and once more when that was changed.
  ///
  /// - Throws: `.tokenRefused`; `.refused` with `validationFailed` and the fields, `emailTaken`, or `rateLimited` and the
  ///   time to wait where no token or code can be sent to a new address or number; `.transient(.providerUnavailable)`.
  package func updateProfile(
    _ changes: ProfileChanges, accessToken: BoundToken
  ) throws(ProviderFailure) -> ProfileUpdate {
    try respond(to: "updateProfile") { database, now in
      let account = try session(of: accessToken.value, database, at: now).account
      let edit = try ProfileEdit(
        changes, of: account, verifiesEmail: configuration.emailVerification == .required)
      let (enrolment, code, mail) = try database.connection.transaction {
        try store(edit, database, at: now)
        let begun = try edit.request.map { try beginEnrolment($0, database, at: now) }
        return (begun?.0, begun?.1, try edit.waiting.map { try requestEmail(of: $0, database, at: now) })
      }
      announce(edit, database, at: now)
      // A user who gets no token, or no code, asks for the change again.
      for message in [code, mail] {
        if let message { try? post(message, database) }
      }
      return ProfileUpdate(user: edit.after.user, enrolment: enrolment)
    }
  }

  /// Stores the examined changes; part of a transaction.
  private func store(_ edit: ProfileEdit, _ database: LocalDatabase, at now: Timestamp) throws {
    let id = edit.after.id
    guard try database.accounts.update(edit.after) else { throw ProviderFailure.refused(.emailTaken) }
    if edit.changesLogin { try database.flows.remove(account: id) }
    if edit.endsEnrolment { try database.enrolments.remove(account: id) }
    if edit.after.secondFactor != .totp { try database.totp.remove(account: id) }
    if edit.endsEmailChange { try database.mailTokens.remove(.change, of: id) }
    if edit.changesEmail {
      try endOldAddress(of: edit.before, database)
      try database.audit.append(.emailChanged, account: id, at: now)
    }
    if edit.changesPhone { try database.audit.append(.phoneNumberChanged, account: id, at: now) }
    if edit.changesFactor {
      try database.audit.append(.factorChanged, account: id, detail: edit.after.secondFactor.rawValue, at: now)
    }
  }

  /// Makes the token that a new address waits for; part of a transaction.
  private func requestEmail(
    of waiting: Account, _ database: LocalDatabase, at now: Timestamp
  ) throws -> NumberedMessage {
    guard let email = EmailAddress(waiting.email), try database.accounts.find(email: email) == nil else {
      throw ProviderFailure.refused(.emailTaken)
    }
    try database.audit.append(.emailChangeRequested, account: waiting.id, at: now)
    return try makeToken(.change, for: waiting, database, at: now)
  }

  /// Notifies the account's owner of the changes, at the address from before.
  private func announce(_ edit: ProfileEdit, _ database: LocalDatabase, at now: Timestamp) {
    if edit.changesLogin { removeMessages(of: edit.after.id, .login, database) }
    if edit.changesPhone { notify(edit.before, of: .phoneNumberChanged, database, at: now) }
    if edit.changesFactor { notify(edit.before, of: .secondFactorChanged, database, at: now) }
    if edit.waiting != nil { notify(edit.before, of: .emailAddressChangeRequested, database, at: now) }
    if edit.changesEmail { announceNewAddress(of: edit.before, database, at: now) }
    if edit.endsEmailChange { removeMessages(of: edit.after.id, .change, database) }
    if edit.endsEnrolment { removeMessages(of: edit.after.id, .enrol, database) }
  }
}
