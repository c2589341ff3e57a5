package import BrokerCore
package import BrokerProtocol
import SQLite
package import SecretMemory

/// Changes of accounts.
extension LocalProvider: ProfileUpdateProvider {
  /// Changes `name`, `email`, `phoneNumber` and `twoFactor`, all of them or nothing.
  ///
  /// A change counts at once, but for an authenticator app: it is enrolled first. A new e-mail address is not verified; the
  /// old one is told. Where codes go or come from has changed, a login that waits for one ends.
  ///
  /// - Throws: `.tokenRefused`; `.refused` with `validationFailed` and the fields, or `emailTaken`;
  ///   `.transient(.providerUnavailable)`.
  package func updateProfile(
    _ changes: ProfileChanges, accessToken: Secret
  ) throws(ProviderFailure) -> ProfileUpdate {
    try respond(to: "updateProfile") { database, now in
      let account = try session(of: accessToken, database, at: now).account
      let edit = try ProfileEdit(
        changes, of: account, needsVerifiedEmail: configuration.emailVerification == .required)
      let enrolment = try database.connection.transaction { try store(edit, database, at: now) }
      announce(edit, database, at: now)
      return ProfileUpdate(user: edit.after.user, enrolment: enrolment)
    }
  }

  /// Stores what was examined; part of a transaction.
  private func store(
    _ edit: ProfileEdit, _ database: LocalDatabase, at now: Timestamp
  ) throws -> ProviderEnrolment? {
    let id = edit.after.id
    guard try database.accounts.update(edit.after) else { throw ProviderFailure.refused(.emailTaken) }
    if edit.changesLogin { try database.flows.remove(account: id) }
    if edit.endsEnrolment { try database.enrolments.remove(account: id) }
    if edit.after.secondFactor != .totp { try database.totp.remove(account: id) }
    if edit.changesEmail { try database.audit.append(.emailChanged, account: id, at: now) }
    if edit.changesPhone { try database.audit.append(.phoneNumberChanged, account: id, at: now) }
    if edit.changesFactor {
      try database.audit.append(.factorChanged, account: id, detail: edit.after.secondFactor.rawValue, at: now)
    }
    return edit.enrolsApp ? try beginEnrolment(of: edit.after, database, at: now) : nil
  }

  /// Tells the account's owner what was changed, at the address that was theirs before.
  private func announce(_ edit: ProfileEdit, _ database: LocalDatabase, at now: Timestamp) {
    if edit.changesLogin { removeMessages(of: edit.after.id, .login, database) }
    if edit.changesPhone { notify(edit.before, of: .phoneNumberChanged, database, at: now) }
    if edit.changesFactor { notify(edit.before, of: .secondFactorChanged, database, at: now) }
    guard edit.changesEmail else { return }
    notify(edit.before, of: .emailAddressChanged, database, at: now)
    removeMessages(of: edit.after.id, .verify, database)
    // What cannot be sent now is sent at the next login.
    if configuration.emailVerification == .required { try? sendToken(.verify, to: edit.after, database, at: now) }
  }
}
