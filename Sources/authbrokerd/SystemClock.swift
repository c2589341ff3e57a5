import BrokerCore
import BrokerProtocol
import LinuxSystem
import Logging
import Transport

/// The clocks of the machine, and the timers of the loop.
struct SystemClock: BrokerClock {
  /// Whose timers are used.
  let loop: EventLoop

  var now: Timestamp { WallClock.timestamp }

  var uptime: Duration { BootClock.now }

  func schedule(at uptime: Duration, _ action: @escaping @Sendable () -> Void) -> TimerCancellation {
    let timer = loop.schedule(at: uptime, action)
    return TimerCancellation { [loop] in loop.cancel(timer) }
  }
}
