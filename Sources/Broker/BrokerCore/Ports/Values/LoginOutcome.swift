package import BrokerProtocol
package import SecretMemory

/// How far a login came at the provider.
package enum LoginOutcome: Sendable {
  /// A session exists.
  case authenticated(ProviderSession)
  /// A one-time code is wanted.
  case otpRequired(ProviderChallenge)
  /// The user has to do something elsewhere.
  case userActionRequired(ProviderUserAction)
  /// The e-mail address must be verified first.
  case emailVerificationRequired
}

/// A session that a provider has begun.
package struct ProviderSession: Sendable {
  /// Its tokens.
  package var tokens: TokenSet
  /// The session's user, where the provider says so at once.
  package var user: User?
  /// How many backup codes are left, where the provider says so.
  package var backupCodesRemaining: Int?
  /// Whether a refresh spends the refresh token; nil where only the replies will show it.
  package var rotatesRefreshToken: Bool?
  /// The extent of a revocation, as the broker has observed it at this provider; nil where it has not.
  var seenHabit: RevocationHabit?

  package init(
    tokens: TokenSet, user: User?, backupCodesRemaining: Int? = nil, rotatesRefreshToken: Bool? = nil
  ) {
    self.tokens = tokens
    self.user = user
    self.backupCodesRemaining = backupCodesRemaining
    self.rotatesRefreshToken = rotatesRefreshToken
  }
}

/// A challenge as its provider describes it.
package struct ProviderChallenge: Sendable, Equatable {
  /// The provider's own handle, which no client ever sees.
  package var flow: Secret
  /// The way in which the code reaches the user.
  package var method: OTPChallenge.Method
  /// The masked destination of the code.
  package var maskedDestination: String
  /// How many digits the code has.
  package var otpLength: Int
  /// When the code ends.
  package var expiresAt: Timestamp
  /// When another code may be asked for.
  package var nextResendAt: Timestamp
  /// How many more wrong codes are accepted.
  package var attemptsRemaining: Int
  /// Whether a backup code may stand in.
  package var backupCodesAllowed: Bool

  /// The ways by which another code can be sent; empty where there is no choice.
  package var channels: [OTPChallenge.Method]

  package init(
    flow: Secret, method: OTPChallenge.Method, maskedDestination: String, otpLength: Int, expiresAt: Timestamp,
    nextResendAt: Timestamp, attemptsRemaining: Int, backupCodesAllowed: Bool = false,
    channels: [OTPChallenge.Method] = []
  ) {
    self.flow = flow
    self.method = method
    self.maskedDestination = maskedDestination
    self.otpLength = otpLength
    self.expiresAt = expiresAt
    self.nextResendAt = nextResendAt
    self.attemptsRemaining = attemptsRemaining
    self.backupCodesAllowed = backupCodesAllowed
    self.channels = channels
  }
}

/// An action that a user has to take in a browser or at a device, as the provider describes it.
package struct ProviderUserAction: Sendable {
  /// The provider's own handle, which no client ever sees.
  package var flow: Secret
  /// The kind of action: a device is polled by ``DeviceLoginProvider/pollUserAction(flow:)``, a browser is awaited by
  /// ``BrowserLoginProvider/awaitRedirect(flow:)``.
  package var kind: UserAction.Kind
  /// The address to open.
  package var verificationURI: String
  /// The address with the code in it already.
  package var verificationURIComplete: String?
  /// The code to type in.
  package var userCode: String?
  /// When the login ends if nothing is done.
  package var expiresAt: Timestamp
  /// How long to wait between two questions (RFC 8628, section 3.5).
  package var interval: Duration

  /// The polling interval where the provider names none (RFC 8628, section 3.2).
  package static let standardInterval = Duration.seconds(5)

  package init(
    flow: Secret, kind: UserAction.Kind, verificationURI: String, verificationURIComplete: String? = nil,
    userCode: String? = nil, expiresAt: Timestamp, interval: Duration = standardInterval
  ) {
    self.flow = flow
    self.kind = kind
    self.verificationURI = verificationURI
    self.verificationURIComplete = verificationURIComplete
    self.userCode = userCode
    self.expiresAt = expiresAt
    self.interval = interval
  }
}

/// How far a user came at another device.
package enum UserActionProgress: Sendable {
  /// Not yet there; the interval grows by five seconds where the provider wants it to (RFC 8628, section 3.5).
  case pending(slowsDown: Bool)
  /// A session exists.
  case authenticated(ProviderSession)
}
