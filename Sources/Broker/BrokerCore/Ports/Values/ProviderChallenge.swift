package import BrokerProtocol
package import SecretMemory

/// A challenge as its provider describes it.
package struct ProviderChallenge: Sendable, Equatable {
  /// The provider's own handle, which no client ever sees.
  package var flow: Secret
  /// How the code reaches the user.
  package var method: OTPChallenge.Method
  /// Where the code went, masked.
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
