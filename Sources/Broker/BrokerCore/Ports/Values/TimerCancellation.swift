/// Cancels a scheduled call; without effect once the call was made.
package struct TimerCancellation: Sendable {
  /// Cancels the call.
  package let cancel: @Sendable () -> Void

  package init(cancel: @escaping @Sendable () -> Void) {
    self.cancel = cancel
  }
}
