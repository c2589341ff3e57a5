import BrokerProtocol

/// The reason why no other code was sent, and the advice for the user.
enum ResendRefusal {
  /// Whether the login goes on: the last code, which may still come, and backup codes stay good.
  static func leavesLogin(_ error: BrokerError) -> Bool {
    error.isRetryable || error.kind == .unsupportedByProvider
  }

  /// The failure with the advice for a login that waits for its code.
  static func explained(_ failure: CommandFailure) -> CommandFailure {
    guard let error = failure.error, let sentence = sentence(error) else { return failure }
    return failure.saying(Message(sentence))
  }

  /// Nil where the error's own words say it.
  private static func sentence(_ error: BrokerError) -> String? {
    let moment = Advice.moment(of: error) ?? "later"
    return switch error.kind {
    case .resendTooSoon: "another code cannot be sent yet; enter the last one, or try again \(moment)"
    // The login may have had all the codes that it can have: another login has its own.
    case .rateLimited: "no other code can be sent for now; enter the last one, or log in again \(moment)"
    case .unsupportedByProvider: "no other code can be sent for this login; enter the one that you have"
    default: nil
    }
  }
}
