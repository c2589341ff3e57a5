import BrokerProtocol

extension BrokerError {
  /// The error that a client sees when a provider refused or failed.
  init(_ failure: ProviderFailure, profile: ProfileName) {
    self.init(failure.kind, profile: profile)
    switch failure {
    case .refused(_, let attempts, let retryAfter, let fields):
      attemptsRemaining = attempts
      self.retryAfter = retryAfter
      self.fields = fields
    case .transient(_, let retryAfter), .outcomeUnknown(_, let retryAfter): self.retryAfter = retryAfter
    case .misconfigured(let fault):
      message = fault.message
      nextAction = .fixConfig
    case .sessionEnded, .reauthenticationRequired, .tokenRefused, .unsupported: break
    }
  }
}
