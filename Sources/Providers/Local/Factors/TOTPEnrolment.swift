import BrokerProtocol

/// An authenticator app that has not shown its first code yet.
struct TOTPEnrolment {
  /// How long a first code is waited for: time to install an app and to scan the address.
  static let lifetime = Duration.seconds(600)
  /// How many wrong codes end it.
  ///
  /// They are no guesses, since the user has the secret: a clock is wrong, or the wrong app was opened.
  static let maxAttempts = 5
  /// How long an ended one is remembered, so that a late code is told apart from a wrong handle.
  static let memory = Duration.seconds(3600)

  /// The fingerprint of its handle, which only the caller has.
  var handle: [UInt8]
  /// Whose app it will be.
  var account: String
  /// The codes of the app.
  var totp: TOTP
  /// Codes that were compared.
  var attempts = 0
  /// When it expires.
  var expiresAt: Timestamp
}
