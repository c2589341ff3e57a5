#if !hasFeature(Embedded)
import BrokerProtocol
import LinuxSystem
import Synchronization

/// A subscription that outlives its connection: where that ends, it goes on behind the last event that was seen.
///
/// A broker that was killed is started again, where the client may do so; one that was stopped is waited for.
final class EventFeed: Sendable {
  /// The pauses between two tries to find the broker again.
  private static let firstPause = Duration.milliseconds(100)
  private static let longestPause = Duration.seconds(2)

  private struct State {
    /// The last sequence that was seen.
    var last: Int?
    /// Whether the broker has said that it stops.
    var wasStopped = false
    var isClosed = false
    /// The present name of the subscription.
    var name: String?
    weak var channel: ClientChannel?
  }

  private let link: BrokerLink
  private let params: Subscribe.Params
  private let queue: EventQueue
  private let state = Mutex(State())

  /// A subscription that has not begun.
  init(_ params: Subscribe.Params, into queue: EventQueue, over link: BrokerLink) {
    self.params = params
    self.queue = queue
    self.link = link
  }

  /// Subscribes, for the first time or behind the last event.
  ///
  /// - Returns: where the sessions stand.
  func subscribe(startsBroker: Bool = true) async throws(CallFailure) -> Subscribe.Result {
    let channel: ClientChannel
    do throws(ClientError) { channel = try await link.channel(startsBroker: startsBroker) } catch {
      throw .failed(error)
    }
    return try await channel.answer(to: channel.nextID()) { id, handler in
      channel.send(id, Subscribe.name, request) { answer in
        // Here, on the reading thread: events may stand right behind the answer.
        handler(answer.result(of: Subscribe.self) { self.begin($0, on: channel) })
      }
    }
  }

  /// Whether the end of a broker is among the events that were asked for.
  private var wantsStop: Bool { params.events?.contains(EventName.shuttingDown.rawValue) ?? true }

  private var request: Subscribe.Params {
    var request = params
    if let last = state.withLock({ $0.last }) { request.since = last }
    // It says whether the end of a broker is wanted.
    if !wantsStop, let events = params.events { request.events = events + [EventName.shuttingDown.rawValue] }
    return request
  }

  private func begin(_ snapshot: Subscribe.Result, on channel: ClientChannel) {
    let missed: EventsLostEvent? = state.withLock { state in
      defer {
        if state.last == nil || snapshot.resync == true { state.last = snapshot.sequence }
        state.wasStopped = false
        state.name = snapshot.subscriptionID
        state.channel = channel
      }
      guard let last = state.last, snapshot.resync == true else { return nil }
      // A sequence that begins again has nothing between.
      return EventsLostEvent(from: min(last + 1, snapshot.sequence), to: snapshot.sequence)
    }
    if let missed {
      let time = Timestamp(milliseconds: WallClock.milliseconds)
      let sequence = UInt64(clamping: snapshot.sequence)
      queue.put(BrokerEvent(sequence: sequence, profile: nil, time: time, payload: .eventsLost(missed)))
    }
    channel.open(snapshot.subscriptionID, self)
  }

  /// Takes an event; called on the reading thread only.
  func take(_ event: BrokerEvent, byteCount: Int) {
    let isStop = event.payload.name == .shuttingDown
    state.withLock { state in
      state.last = max(state.last ?? 0, Int(clamping: event.sequence))
      if isStop { state.wasStopped = true }
    }
    if isStop, !wantsStop { return }
    queue.put(event, byteCount: byteCount)
  }

  /// The connection has ended: another one is looked for, unless the client was closed or cannot connect again.
  func connectionEnded() {
    guard link.mayConnect, !state.withLock({ $0.isClosed }) else { return queue.finish() }
    Task { await resume() }
  }

  /// Ends the subscription, whose events are no longer read.
  func close() {
    let (channel, name) = state.withLock { state in
      state.isClosed = true
      return (state.channel, state.name)
    }
    if let channel, let name { channel.close(name) }
  }

  private func resume() async {
    var pause = Self.firstPause
    while link.mayConnect, !state.withLock({ $0.isClosed }) {
      // At first too: brokers that end again and again are not started without a pause.
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, Self.longestPause)
      do throws(CallFailure) {
        _ = try await subscribe(startsBroker: !state.withLock { $0.wasStopped })
        return
      } catch {
        guard error.isPassing else { break }
      }
    }
    queue.finish()
  }
}
#endif
