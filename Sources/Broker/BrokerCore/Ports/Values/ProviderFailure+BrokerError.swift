import BrokerProtocol

extension BrokerError {
  /// The error that a client sees when a provider refused or failed; `profile` is nil for a call of no profile's.
  init(_ failure: ProviderFailure, profile: ProfileName?) {
    self.init(failure.kind, profile: profile)
    switch failure {
    case .refused(_, let attempts, let retryAfter, let fields):
      attemptsRemaining = attempts
      self.retryAfter = retryAfter
      self.fields = fields
    case .transient(_, let retryAfter, let cause):
      self.retryAfter = retryAfter
      if let cause { message = cause.message }
    case .outcomeUnknown(_, let retryAfter): self.retryAfter = retryAfter
    case .misconfigured(let fault):
      message = fault.message
      nextAction = .fixConfig
    case .rejected(let rejection): explain(rejection)
    case .rotated(let rotated): explain(rotated.rejection)
    case .sessionEnded, .reauthenticationRequired, .challenged, .tokenRefused, .unsupported: break
    }
  }

  /// Tells what the provider said, and where to look.
  private mutating func explain(_ rejection: ProviderRejection) {
    if let sentence = rejection.message { message = sentence }
    if rejection.fault != nil { nextAction = .fixConfig }
    retryAfter = rejection.retryAfter
    // The next token is of the same type.
    if rejection.isOfForeignType { isRetryable = false }
  }

  /// The error where the provider's reply to a credential that works once was lost: the provider may have used it up, so
  /// that sending it again proves nothing.
  ///
  /// - Parameters:
  ///   - kind: how the reply was lost.
  ///   - credential: what was sent, as a user calls it.
  ///   - profile: whose request it was.
  init(lostReply kind: ErrorKind, to credential: String, profile: ProfileName) {
    self.init(
      kind, "The provider's reply was lost, and the \(credential) may be used up; log in again.", profile: profile)
    isRetryable = false
    nextAction = .login
  }
}
