import BrokerProtocol
import LinuxSystem
import Logging
import Synchronization

/// One hook at work: a thread that exists while an event waits, and runs the program for one after the other.
///
/// The loop only adds to the queue, and starts the thread.
final class HookLine: Sendable {
  private struct State {
    var queue = HookQueue()
    var isRunning = false
    var isClosed = false
    /// The failures that are told: each kind once.
    var told: Set<HookRun.Failure> = []
    var hasToldDrops = false
  }

  /// The hook.
  let hook: Hook
  private let environment: [String: String]
  private let log: Logger
  private let grace: Duration
  private let ended: Semaphore
  private let state = Mutex(State())

  /// A line without an event; `ended` is signalled whenever its thread ends.
  init(_ hook: Hook, environment: [String: String], log: Logger, grace: Duration, ended: Semaphore) {
    self.hook = hook
    self.environment = environment
    self.log = log
    self.grace = grace
    self.ended = ended
  }

  /// Whether its program is running, or about to.
  var isRunning: Bool { state.withLock { $0.isRunning } }
  /// How many events were dropped, as far as that is not logged yet; for tests.
  var dropped: Int { state.withLock { $0.queue.dropped } }

  /// Takes an event, if the hook is for such.
  func take(_ event: BrokerEvent) {
    guard hook.events.contains(event.payload.name) else { return }
    let (mustStart, isFirstDrop) = state.withLock { state in
      guard !state.isClosed else { return (false, false) }
      state.queue.add(event)
      let isFirstDrop = state.queue.dropped > 0 && !state.hasToldDrops
      if isFirstDrop { state.hasToldDrops = true }
      defer { state.isRunning = true }
      return (!state.isRunning, isFirstDrop)
    }
    if isFirstDrop { log.warning("a hook is too slow: events are dropped for it", program) }
    guard mustStart else { return }
    do throws(Errno) { try SystemThread { [self] in run() }.detach() } catch {
      state.withLock { $0.isRunning = false }
      report(.notStarted(error))
    }
  }

  /// Takes no event any more; `keepingQueue` lets the program see those that wait.
  func close(keepingQueue: Bool) {
    state.withLock { state in
      state.isClosed = true
      if !keepingQueue { state.queue.clear() }
    }
  }

  private func run() {
    while let event = next() {
      guard let run = HookRun(hook, event, environment: environment, grace: grace) else { continue }
      do throws(HookRun.Failure) { try run.run() } catch { report(error) }
    }
    ended.signal()
  }

  /// The next event; nil ends the thread.
  private func next() -> BrokerEvent? {
    let (event, dropped) = state.withLock { state in
      let event = state.queue.next()
      guard event == nil else { return (event, 0) }
      state.isRunning = false
      state.hasToldDrops = false
      return (nil, state.queue.takeDropped())
    }
    if dropped > 0 { log.warning("a hook has missed events", program, .number("dropped", dropped)) }
    return event
  }

  private var program: LogField { .word("program", hook.command.first ?? "") }

  /// Logs a failure: each kind once, since a hook that fails may fail for every event.
  private func report(_ failure: HookRun.Failure) {
    let isNew = state.withLock { $0.told.insert(failure).inserted }
    log.write(isNew ? .warning : .debug, "a hook failed", [program, .word("reason", failure.sentence(hook))])
  }
}

extension HookRun.Failure {
  /// The sentence: the failure, and the remedy.
  func sentence(_ hook: Hook) -> String {
    switch self {
    case .notFound: "it was not found; install it, or write its absolute path"
    case .notExecutable: "it may not be executed; run chmod +x on it, or name its interpreter"
    case .notStarted(let error): "it cannot be run: \(error)"
    case .failed(let status): "it exited with status \(status); run it by hand to see why"
    case .timedOut: "it did not exit within \(hook.timeLimit) and was ended; raise timeoutSeconds of the hook"
    }
  }
}
