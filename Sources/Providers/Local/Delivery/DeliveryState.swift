/// The state of a message once its first try has ended, or takes long.
enum DeliveryState: Equatable, Sendable {
  /// A server or a program has it.
  case sent
  /// The first try takes its time.
  case pending
  /// The first try has failed; others follow.
  case retrying(DeliveryFailure)
  /// It is not sent.
  case failed(DeliveryFailure)

  /// Why it was not sent so far; nil where nothing is wrong, as far as is known.
  var failure: DeliveryFailure? {
    switch self {
    case .sent, .pending: nil
    case .retrying(let failure), .failed(let failure): failure
    }
  }
}
