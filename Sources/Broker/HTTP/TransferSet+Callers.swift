import CCurl
import LinuxSystem

/// A set on the thread of a caller, which has one exchange at a time carried out and gives it its turns.
extension TransferSet {
  /// Begins an exchange.
  func begin(_ exchange: Exchange) {
    // The time without an exchange is none of its own.
    _ = clock.wakes()
    admit(exchange)
  }

  /// Does what can be done at once.
  ///
  /// - Parameters:
  ///   - exchange: the one that was begun.
  ///   - stopsSpending: whether nothing is sent any more that spends something.
  func turn(of exchange: Exchange, stopsSpending: Bool) {
    // As for a thread of the client's own: taken before anything is read.
    let now = clock.wakes()
    if exchange.isCancelled { endCancelled() }
    resumeHeldUp()
    if stopsSpending { refuseUnsent() }
    perform()
    expire(at: now)
  }
}
