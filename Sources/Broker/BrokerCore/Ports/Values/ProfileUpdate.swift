package import BrokerProtocol
package import SecretMemory

/// The result of an account change.
package struct ProfileUpdate: Sendable {
  /// The account after the change.
  package var user: User
  /// The second factor that is not changed yet: it wants a first code.
  package var enrolment: ProviderEnrolment?

  /// A change that was made, but for what an enrolment still wants.
  package init(user: User, enrolment: ProviderEnrolment? = nil) {
    self.user = user
    self.enrolment = enrolment
  }
}

/// The enrolment of a second factor as its provider describes it.
package struct ProviderEnrolment: Sendable {
  /// The provider's own handle, which no client ever sees.
  package var flow: Secret
  /// The way in which its codes reach the user.
  package var method: OTPChallenge.Method
  /// The secret for an authenticator application, as an `otpauth://` URI; nil where codes are sent.
  package var uri: Secret?
  /// The masked destination of its first code; nil for an authenticator application.
  package var maskedDestination: String?
  /// When the enrolment ends.
  package var expiresAt: Timestamp
  /// How many digits its codes have.
  package var otpLength: Int
  /// How many more wrong codes are accepted.
  package var attemptsRemaining: Int

  /// An enrolment.
  package init(
    flow: Secret, method: OTPChallenge.Method = .totp, uri: Secret? = nil, maskedDestination: String? = nil,
    expiresAt: Timestamp, otpLength: Int, attemptsRemaining: Int
  ) {
    self.flow = flow
    self.method = method
    self.uri = uri
    self.maskedDestination = maskedDestination
    self.expiresAt = expiresAt
    self.otpLength = otpLength
    self.attemptsRemaining = attemptsRemaining
  }
}
