package import BrokerCore
package import BrokerProtocol
import Synchronization

/// A clock that stands still until a test moves it; timers are called as it passes them.
package final class ManualClock: BrokerClock {
  private struct State {
    var uptime = Duration.seconds(1000)
    var slept = Duration.seconds(100)
    var wall = Timestamp(milliseconds: 1_800_000_000_000)
    var timers: [UInt64: (deadline: Duration, action: @Sendable () -> Void)] = [:]
    var count: UInt64 = 0
    var whenSet: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())

  /// A clock at an arbitrary moment in 2027.
  package init() {}

  package var now: Timestamp { state.withLock { $0.wall } }

  package var uptime: Duration { state.withLock { $0.uptime } }

  package var slept: Duration? { state.withLock { $0.slept } }

  package func schedule(at uptime: Duration, _ action: @escaping @Sendable () -> Void) -> TimerCancellation {
    let id = state.withLock { state in
      state.count += 1
      state.timers[state.count] = (uptime, action)
      return state.count
    }
    return TimerCancellation { [weak self] in
      self?.state.withLock { $0.timers[id] = nil }
    }
  }

  /// How many timers wait.
  package var timerCount: Int { state.withLock { $0.timers.count } }

  package func whenSet(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.whenSet.append(action) } }

  /// Sets the wall clock, as a person or a time server does: no time passes.
  ///
  /// To be called on the executor that the timers expect.
  package func set(by difference: Duration) {
    state.withLock { $0.wall = $0.wall + difference }
    tellThatItWasSet()
  }

  /// Lets the machine sleep: time passes, and what would have been due is called when it wakes.
  ///
  /// To be called on the executor that the timers expect.
  package func suspend(for duration: Duration) {
    sleep(for: duration)
    advance(by: .zero)
    tellThatItWasSet()
  }

  /// Lets the machine sleep: it is just awake, and nothing has been called yet.
  package func sleep(for duration: Duration) {
    state.withLock { state in
      state.uptime += duration
      state.slept += duration
      state.wall = state.wall + duration
    }
  }

  private func tellThatItWasSet() {
    for action in state.withLock({ $0.whenSet }) { action() }
  }

  /// Lets time pass, timer by timer.
  ///
  /// To be called on the executor that the timers expect.
  package func advance(by duration: Duration) {
    let end = uptime + duration
    while let action = takeNext(before: end) { action() }
    state.withLock { state in
      state.wall = state.wall + (end - state.uptime)
      state.uptime = end
    }
  }

  /// Sets the wall clock, and tells nobody.
  package func setWall(by duration: Duration) { state.withLock { $0.wall = $0.wall + duration } }

  private func takeNext(before end: Duration) -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard let next = state.timers.min(by: { $0.value.deadline < $1.value.deadline }), next.value.deadline <= end
      else {
        return nil
      }
      state.timers[next.key] = nil
      let step = max(next.value.deadline - state.uptime, .zero)
      state.uptime += step
      state.wall = state.wall + step
      return next.value.action
    }
  }
}
