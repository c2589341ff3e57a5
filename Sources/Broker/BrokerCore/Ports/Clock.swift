package import BrokerProtocol

/// The clocks and timers of the core.
package protocol BrokerClock: Sendable {
  /// The wall clock: the clock of timestamps on the wire.
  var now: Timestamp { get }

  /// Time since the machine started, suspended time included (`CLOCK_BOOTTIME`): the clock of durations.
  var uptime: Duration { get }

  /// The identifier of the machine's start that the uptime counts from, constant until the next start; nil where it is
  /// unknown.
  var boot: String? { get }

  /// How much of the uptime the machine was suspended; nil where that is not known.
  var slept: Duration? { get }

  /// Both in whole milliseconds, for what is asked of every request.
  var milliseconds: (wall: Int64, uptime: Int64) { get }

  /// Calls `action` on the core's executor once `uptime` has come this far.
  ///
  /// The returned closure cancels the call; it may be called at any time, on the core's executor.
  /// A machine that slept meanwhile makes the call as soon as it wakes.
  func schedule(at uptime: Duration, _ action: @escaping @Sendable () -> Void) -> TimerCancellation

  /// Calls `action` on the core's executor whenever the wall clock was set, and at the end of a suspend, from now on.
  func whenSet(_ action: @escaping @Sendable () -> Void)
}

extension BrokerClock {
  /// Both clocks.
  var moment: Moment { Moment(wall: now, uptime: uptime) }

  /// Nothing is known of it.
  package var boot: String? { nil }

  /// Nothing is known of it.
  package var slept: Duration? { nil }

  /// As the two clocks say it.
  package var milliseconds: (wall: Int64, uptime: Int64) { (now.milliseconds, uptime.milliseconds) }
}

/// Cancels a scheduled call; without effect once the call was made.
package struct TimerCancellation: Sendable {
  /// Cancels the call.
  package let cancel: @Sendable () -> Void

  package init(cancel: @escaping @Sendable () -> Void) {
    self.cancel = cancel
  }
}
