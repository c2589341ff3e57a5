package import BrokerProtocol
package import SecretMemory

/// What a user has to do somewhere else, as the provider describes it.
package struct ProviderUserAction: Sendable {
  /// The provider's own handle, which no client ever sees.
  package var flow: Secret
  /// Where it is done: a device is asked for by ``DeviceLoginProvider/pollUserAction(flow:)``, a browser is awaited by
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

  /// Where the provider names no interval (RFC 8628, section 3.2).
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
