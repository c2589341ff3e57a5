package import BrokerProtocol
package import SecretMemory

/// One login that waits for its code, or for its user, as it rests in the store.
package struct PendingLogin: Sendable, Equatable {
  /// What clients know of it.
  package var step: PendingLoginStep
  /// The provider's own handle.
  package var flow: Secret
  /// How it was begun.
  package var method: LoginMethod
  /// How many wrong codes were tried, as the broker itself has counted.
  package var wrongCodes: Int
  /// Whose session it must bring; nil for any.
  package var expectedUser: ExpectedUser?
  /// Whose login it is, as the client has named the account; nil where it has not.
  ///
  /// Known for as long as the process lives: it rests in no store.
  package var account: String?
  /// Whether it may replace another user's living session: it was begun with access to the state directory.
  package var mayReplace = false
  /// The connection whose own login it is; nil where no single one has begun it.
  ///
  /// Known for as long as the process lives, as the connection is.
  package var client: ClientID?

  package init(
    step: PendingLoginStep, flow: Secret, method: LoginMethod = .password, wrongCodes: Int = 0,
    expectedUser: ExpectedUser? = nil
  ) {
    self.step = step
    self.flow = flow
    self.method = method
    self.wrongCodes = wrongCodes
    self.expectedUser = expectedUser
  }

  /// A login that waits for its code.
  package init(challenge: OTPChallenge, flow: Secret) { self.init(step: .code(challenge), flow: flow) }

  /// The broker's handle.
  package var id: String { step.id }

  /// The profile that logs in.
  package var profile: ProfileName { step.profile }

  /// When it ends if no client continues it.
  package var expiresAt: Timestamp { step.expiresAt }
}
