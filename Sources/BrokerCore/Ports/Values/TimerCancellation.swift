/// Takes back a scheduled call; without effect once the call was made.
package struct TimerCancellation: Sendable {
  /// Takes the call back.
  package let cancel: @Sendable () -> Void

  /// Wraps what takes the call back.
  package init(cancel: @escaping @Sendable () -> Void) {
    self.cancel = cancel
  }
}
