import BrokerProtocol
import LinuxSystem
import Synchronization

/// Sends the embedded provider's messages, off the provider's thread: a slow server or program holds up no
/// caller but the one that waits for its message.
///
/// A passing trouble is tried again: three tries within about ten seconds, since no user waits longer for a code. What was
/// not sent by then is counted and forgotten; its user asks for another code, or uses a backup code.
package final class Delivery: Sendable {
  /// The pauses before the second and the third try.
  private static let pauses: [Duration] = [.milliseconds(500), .seconds(2)]
  /// No try begins later than that after the first one.
  private static let window = Duration.seconds(10)
  /// How long the first try is waited for: a second longer than a silent server or program is, so that its failure is
  /// reported.
  static let patience = Duration.seconds(6)
  /// Messages under way at a time: each may keep a connection or a program, and some KiB of the locked memory.
  static let capacity = 64

  /// The clocks and timers; a test gives its own.
  struct Timing: Sendable {
    /// Time since the machine started.
    var uptime: @Sendable () -> Duration = { BootClock.now }
    /// The wall clock.
    var now: LocalProvider.Clock = { LocalProvider.wallClock }
    /// Calls an action after some time.
    var schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void = { delay, action in
      TaskThread.shared.schedule(after: delay, action)
    }
  }

  private struct State {
    var channels: [OTPChallenge.Method: any MessageChannel] = [:]
    var reports: [DeliveryConfiguration.Channel: DeliveryReport] = [:]
    /// Each keeps its place until its last try has ended.
    var underWay: Set<Int64> = []
    /// The messages among them that are not tried any more.
    var withdrawn: Set<Int64> = []
    var isClosed = false
  }

  /// Gets the report of a message that was given up: its channel, and the reason without a code, a token or a
  /// recipient.
  package typealias FailureSink = @Sendable (_ channel: DeliveryConfiguration.Channel, _ reason: String) -> Void

  private let timing: Timing
  private let hasFailed: FailureSink
  private let state = Mutex(State())

  /// A delivery that leaves everything to the outbox.
  ///
  /// - Parameter hasFailed: is told of each message that was given up; must not wait.
  package convenience init(hasFailed: @escaping FailureSink = { _, _ in }) {
    self.init(Timing(), hasFailed: hasFailed)
  }

  /// A delivery with clocks and timers of the caller's choice.
  init(_ timing: Timing, hasFailed: @escaping FailureSink = { _, _ in }) {
    self.timing = timing
    self.hasFailed = hasFailed
  }

  /// Sends messages on other ways from now on; those under way stay on theirs.
  ///
  /// - Parameter channels: by what they send; what has none goes to the outbox.
  func use(_ channels: [OTPChallenge.Method: any MessageChannel]) {
    state.withLock { $0.channels = channels }
  }

  /// The way of messages of a kind; nil: the outbox.
  func channel(for method: OTPChallenge.Method) -> (any MessageChannel)? { state.withLock { $0.channels[method] } }

  /// Sends a message and waits for the end of its first try, or ``patience``.
  ///
  /// - Parameters:
  ///   - message: what to send.
  ///   - number: its number, which no other message ever had.
  ///   - channel: its way.
  /// - Returns: what came of the first try; later ones go on in the background.
  func send(_ message: OutboundMessage, number: Int64, by channel: any MessageChannel) async -> DeliveryState {
    let first = Promise<DeliveryState>()
    start(message, number: number, by: channel, first)
    timing.schedule(Self.patience) { first.fulfil(.pending) }
    return await first.value
  }

  /// Sends a message without waiting for it.
  func post(_ message: OutboundMessage, number: Int64, by channel: any MessageChannel) {
    start(message, number: number, by: channel, Promise())
  }

  /// Begins no further try of messages that are of no more use: one that is being sent at this moment is not called back.
  func withdraw(_ numbers: some Sequence<Int64>) {
    state.withLock { $0.withdrawn.formUnion($0.underWay.intersection(numbers)) }
  }

  /// Begins no further try.
  package func close() {
    state.withLock { $0.isClosed = true }
  }

  /// The reports of the channels that were used since the start, in the order of their names.
  package var reports: [DeliveryReport] {
    state.withLock { $0.reports.values.sorted { $0.channel.rawValue < $1.channel.rawValue } }
  }

  private func start(
    _ message: OutboundMessage, number: Int64, by channel: any MessageChannel, _ first: Promise<DeliveryState>
  ) {
    let hasRoom = state.withLock { state in
      state.reports[channel.name, default: DeliveryReport(channel: channel.name)].begin()
      guard !state.isClosed, state.underWay.count < Self.capacity else { return false }
      state.underWay.insert(number)
      return true
    }
    guard hasRoom else {
      let outcome = DeliveryState.failed(.unreachable("too many messages are under way"))
      note(outcome, number: number, channel)
      return first.fulfil(outcome)
    }
    Task(executorPreference: TaskThread.shared) { [self] in
      let outcome = await attempt(message, number: number, by: channel, first)
      note(outcome, number: number, channel)
      first.fulfil(outcome)
    }
  }

  /// Tries until it has succeeded, or there is no more use in it.
  private func attempt(
    _ message: OutboundMessage, number: Int64, by channel: any MessageChannel, _ first: Promise<DeliveryState>
  ) async -> DeliveryState {
    let end = timing.uptime() + Self.window
    var pauses = Self.pauses[...]
    while true {
      do throws(DeliveryFailure) {
        try await channel.send(message)
        return .sent
      } catch {
        guard error.isPassing, let pause = pauses.popFirst(), timing.uptime() + pause <= end else {
          return .failed(error)
        }
        noteFailure(error, channel)
        first.fulfil(.retrying(error))
        await wait(pause)
        guard isWanted(number) else { return .failed(error) }
      }
    }
  }

  private func isWanted(_ number: Int64) -> Bool {
    state.withLock { !$0.isClosed && !$0.withdrawn.contains(number) }
  }

  private func wait(_ pause: Duration) async {
    await withCheckedContinuation { continuation in timing.schedule(pause) { continuation.resume() } }
  }

  private func noteFailure(_ failure: DeliveryFailure, _ channel: any MessageChannel) {
    let now = timing.now()
    state.withLock { $0.reports[channel.name]?.note(failure, at: now) }
  }

  private func note(_ outcome: DeliveryState, number: Int64, _ channel: any MessageChannel) {
    let now = timing.now()
    state.withLock { state in
      state.underWay.remove(number)
      state.withdrawn.remove(number)
      state.reports[channel.name]?.end(outcome, at: now)
    }
    if let failure = outcome.failure { hasFailed(channel.name, failure.text) }
  }
}
