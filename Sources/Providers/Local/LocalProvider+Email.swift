package import BrokerCore
import BrokerProtocol
import SQLite
package import SecretMemory

/// The verification of e-mail addresses.
extension LocalProvider: EmailVerificationProvider {
  /// How long a mail may take before another one is sent.
  private static let verificationPause = Duration.seconds(300)

  /// Confirms the address that a token was sent to; the token is used up then.
  ///
  /// - Throws: `.refused` with `validationFailed` and the field `token` for one that is not good any more;
  ///   `.transient(.providerUnavailable)`.
  package func verifyEmail(token: Secret) throws(ProviderFailure) {
    try respond(to: "verifyEmail") { database, now in
      guard let account = try holder(of: token, .verify, database, at: now) else {
        throw ProviderFailure.refused(.validationFailed, fields: ["token"])
      }
      try database.connection.transaction {
        try database.accounts.setEmailVerified(account.id, at: now)
        try database.mailTokens.remove(.verify, of: account.id)
        try database.audit.append(.emailVerified, account: account.id, at: now)
      }
      removeMessages(of: account.id, .verify, database)
    }
  }

  /// Sends another token to an account whose login is refused until its address is verified, unless the last one was sent
  /// just now, or too much was sent lately.
  ///
  /// - Throws: what the database, the memory and the outbox say.
  func sendVerificationAgain(to account: Account, _ database: LocalDatabase, at now: Timestamp) throws {
    let expiry = try database.mailTokens.expiry(.verify, of: account.id)
    let sentAt = expiry.map { $0 + (.zero - MailToken.Purpose.verify.lifetime) }
    if let sentAt, now < sentAt + Self.verificationPause { return }
    guard try messageWait(.verify, account, database, at: now) == nil else { return }
    try sendToken(.verify, to: account, database, at: now)
  }
}
