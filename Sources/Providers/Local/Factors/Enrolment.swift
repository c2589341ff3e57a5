import BrokerProtocol

/// A second factor that has not shown its first code yet: it does not count till then.
struct Enrolment {
  /// The source of its code.
  enum Source {
    /// An authenticator app, by its secret.
    case app(TOTP)
    /// A message to a phone number or an e-mail address.
    case message(SentCode)
  }

  /// A code that was sent.
  struct SentCode {
    /// The way in which the code reaches the user.
    var method: OTPChallenge.Method
    /// The phone number or e-mail address that it proves.
    var destination: String
    /// Its fingerprint, bound to the enrolment's handle.
    var fingerprint: [UInt8]
    /// How many digits it has.
    var length: Int
  }

  /// How long the first code of an app is waited for: time to install one and to scan the address.
  static let appLifetime = Duration.seconds(600)
  /// How many wrong codes of an app end it.
  ///
  /// They are no guesses, since the user has the secret: a clock is wrong, or the wrong app was opened.
  static let maxAppAttempts = 5
  /// How long an ended one is remembered, so that a late code is told apart from a wrong handle.
  static let memory = Duration.seconds(3600)

  /// The fingerprint of its handle, which only the caller has.
  var handle: [UInt8]
  /// The account that gets the factor.
  var account: String
  /// The source of its code.
  var source: Source
  /// Codes that were compared.
  var attempts = 0
  /// When it expires.
  var expiresAt: Timestamp

  /// How many digits its codes have.
  var codeLength: Int {
    switch source {
    case .app(let totp): totp.digits
    case .message(let sent): sent.length
    }
  }
}
