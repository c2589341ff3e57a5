import BrokerCore
import BrokerProtocol
import LinuxSystem
import Logging
import Transport

/// The clocks of the machine, and the timers of the loop.
struct SystemClock: BrokerClock {
  /// The event loop, for its timers.
  let loop: EventLoop
  /// The log, for a clock whose changes are not monitored.
  let log: Logger

  var now: Timestamp { WallClock.timestamp }

  var uptime: Duration { BootClock.now }

  var boot: String? { BootClock.boot }

  var slept: Duration? { SleepTime.now }

  var milliseconds: (wall: Int64, uptime: Int64) { (WallClock.milliseconds, BootClock.nanoseconds / 1_000_000) }

  func schedule(at uptime: Duration, _ action: @escaping @Sendable () -> Void) -> TimerCancellation {
    let timer = loop.schedule(at: uptime, action)
    return TimerCancellation { [loop] in loop.cancel(timer) }
  }

  func whenSet(_ action: @escaping @Sendable () -> Void) {
    do throws(Errno) {
      // The loop keeps it for as long as the process lives.
      _ = try ClockWatcher(loop: loop, watch: try ClockWatch(), wasSet: action)
    } catch {
      log.warning("clock changes are not monitored", .word("reason", error.description))
    }
  }
}
