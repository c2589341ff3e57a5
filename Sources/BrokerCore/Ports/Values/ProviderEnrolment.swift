package import BrokerProtocol
package import SecretMemory

/// An authenticator app that waits for its first code.
package struct ProviderEnrolment: Sendable {
  /// The provider's own handle, which no client ever sees.
  package var flow: Secret
  /// What the app reads from a QR code (`otpauth://`), with the secret in it.
  package var uri: Secret
  /// When the enrolment expires.
  package var expiresAt: Timestamp
  /// How many more wrong codes are accepted.
  package var attemptsRemaining: Int

  /// An enrolment.
  package init(flow: Secret, uri: Secret, expiresAt: Timestamp, attemptsRemaining: Int) {
    self.flow = flow
    self.uri = uri
    self.expiresAt = expiresAt
    self.attemptsRemaining = attemptsRemaining
  }
}
