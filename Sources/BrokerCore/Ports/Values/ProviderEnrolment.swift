package import BrokerProtocol
package import SecretMemory

/// The enrolment of a second factor as its provider describes it.
package struct ProviderEnrolment: Sendable {
  /// The provider's own handle, which no client ever sees.
  package var flow: Secret
  /// The secret for an authenticator application, as an `otpauth://` URI.
  package var uri: Secret
  /// When the enrolment ends.
  package var expiresAt: Timestamp
  /// How many digits its codes have.
  package var otpLength: Int
  /// How many more wrong codes are accepted.
  package var attemptsRemaining: Int

  /// An enrolment.
  package init(flow: Secret, uri: Secret, expiresAt: Timestamp, otpLength: Int, attemptsRemaining: Int) {
    self.flow = flow
    self.uri = uri
    self.expiresAt = expiresAt
    self.otpLength = otpLength
    self.attemptsRemaining = attemptsRemaining
  }
}
