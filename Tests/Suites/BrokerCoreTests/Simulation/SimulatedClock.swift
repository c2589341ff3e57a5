import BrokerCore
import BrokerProtocol
import Synchronization

/// The clock of one life of the broker: the simulation sets it, and calls what is due.
final class SimulatedClock: BrokerClock {
  private struct Timer {
    let number: Int
    let deadline: Duration
    let action: @Sendable () -> Void
  }

  private struct State {
    var uptime: Duration
    /// What the wall clock shows beyond the uptime.
    var offset: Duration
    var timers: [Timer] = []
    var count = 0
    var whenSet: (@Sendable () -> Void)?
    var isStopped = false
  }

  private let state: Mutex<State>
  /// Which start of the machine it is.
  let boot: String?

  /// A clock that shows these times.
  init(uptime: Duration, wall: Timestamp, boot: String? = "boot-0") {
    self.boot = boot
    state = Mutex(State(uptime: uptime, offset: .milliseconds(wall.milliseconds) - uptime))
  }

  var now: Timestamp {
    state.withLock { Timestamp(milliseconds: 0) + ($0.uptime + $0.offset) }
  }

  var uptime: Duration { state.withLock { $0.uptime } }

  func schedule(at uptime: Duration, _ action: @escaping @Sendable () -> Void) -> TimerCancellation {
    let number = state.withLock { state in
      state.count += 1
      if !state.isStopped { state.timers.append(Timer(number: state.count, deadline: uptime, action: action)) }
      return state.count
    }
    return TimerCancellation { [weak self] in
      self?.state.withLock { state in state.timers.removeAll { $0.number == number } }
    }
  }

  func whenSet(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.whenSet = action } }

  /// Tells whoever wants to know that the wall clock was set, or that the machine has slept.
  func tellSet() {
    let action = state.withLock { $0.isStopped ? nil : $0.whenSet }
    action?()
  }

  /// When the next timer is due; nil where none waits.
  var nextDeadline: Duration? { state.withLock { $0.timers.map(\.deadline).min() } }

  /// Lets time pass, without calling anybody.
  func set(uptime: Duration) { state.withLock { $0.uptime = max($0.uptime, uptime) } }

  /// Sets the wall clock forward, or back.
  func jump(_ step: Duration) { state.withLock { $0.offset += step } }

  /// Takes the first timer that is due; of those of one instant the one that was set first.
  func takeDue() -> (@Sendable () -> Void)? {
    state.withLock { state in
      let due = state.timers.filter { $0.deadline <= state.uptime }
      guard let first = due.min(by: { ($0.deadline, $0.number) < ($1.deadline, $1.number) }) else { return nil }
      state.timers.removeAll { $0.number == first.number }
      return first.action
    }
  }

  /// Forgets all timers, and takes no more.
  func stop() {
    state.withLock { state in
      state.timers = []
      state.isStopped = true
    }
  }
}
