/// Why a message was not sent: one clause without a full stop, and without a code, a token or a recipient.
enum DeliveryFailure: Error, Equatable, Sendable {
  /// No later try helps: the message, its recipient or the configuration must change.
  case refused(String)
  /// A later try may help.
  case unreachable(String)

  /// The clause.
  var text: String {
    switch self {
    case .refused(let text), .unreachable(let text): text
    }
  }

  /// Whether a later try may help.
  var isPassing: Bool {
    switch self {
    case .refused: false
    case .unreachable: true
    }
  }
}
