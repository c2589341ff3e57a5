package import Sealing

/// How the embedded provider deals with codes, tokens and passwords.
package struct LocalProviderSettings: Sendable {
  /// How one-time codes work.
  package struct OneTimeCode: Sendable {
    /// Decimal digits: 6 are what people can type from a message without a mistake.
    package var length = 6
    /// How long a code is good: 300 s, half of what SP 800-63B-4 (section 3.1.3.2) allows.
    package var lifetime = Duration.seconds(300)
    /// Wrong codes that close a login: with 5 of 1,000,000 codes a guess succeeds once in 200,000 logins.
    package var maxAttempts = 5
    /// Between two messages of one login.
    package var resendCooldown = Duration.seconds(30)

    /// The usual values.
    package init() {}
  }

  /// How long an access token is good; short, since its holder needs nothing else.
  package var accessTokenLifetime = Duration.seconds(900)
  /// How long after a login its refresh tokens are good; rotation does not move that end.
  package var refreshTokenLifetime = Duration.seconds(2_592_000)
  /// How one-time codes work.
  package var oneTimeCode = OneTimeCode()
  /// How much work a password hash is.
  package var passwordHash = PasswordHash.Parameters.standard

  /// The usual values.
  package init() {}
}
