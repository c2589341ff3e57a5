#if !hasFeature(Embedded)
import BrokerProtocol
import Synchronization

/// The events of one subscription on their way from the reading thread to the task that iterates.
///
/// Bounded: a reader that falls behind by more than ``limit`` events loses the newest ones and is told so by an
/// `eventsLost` event, as the broker itself does it.
final class EventQueue: Sendable {
  /// As many as the broker keeps for those who come back.
  static let limit = 10_000
  /// Four times what the broker itself queues for a client that does not read.
  static let byteLimit = 16 << 20

  private let continuation: AsyncStream<BrokerEvent>.Continuation
  private let lost = Mutex<ClosedRange<UInt64>?>(nil)
  /// The lengths of the events that wait, as far as the last one that was put told of it.
  private let lengths = Mutex<[Int]>([])

  private init(_ continuation: AsyncStream<BrokerEvent>.Continuation) { self.continuation = continuation }

  /// An empty queue, and where its events are read.
  ///
  /// The queue does not keep the stream: that no other owner does either shows that it is no longer read.
  static func make() -> (queue: EventQueue, stream: AsyncStream<BrokerEvent>) {
    let (stream, continuation) = AsyncStream<BrokerEvent>.makeStream(bufferingPolicy: .bufferingOldest(limit))
    return (EventQueue(continuation), stream)
  }

  /// Sets what is done when its reader stops reading.
  func whenCancelled(_ body: @escaping @Sendable () -> Void) {
    continuation.onTermination = { reason in
      if case .cancelled = reason { body() }
    }
  }

  /// Appends an event; called on the reading thread only, so in order.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - byteCount: how long its message was.
  func put(_ event: BrokerEvent, byteCount: Int = 0) {
    if let gap = lost.withLock({ $0 }) {
      let notice = EventsLostEvent(from: Int(clamping: gap.lowerBound), to: Int(clamping: gap.upperBound))
      let told = BrokerEvent(
        sequence: gap.upperBound, profile: nil, time: event.time, payload: .eventsLost(notice))
      guard yield(told, 0) else { return lose(event) }
      lost.withLock { $0 = nil }
    }
    let isFull = lengths.withLock { $0.reduce(byteCount, +) > Self.byteLimit }
    if isFull || !yield(event, byteCount) { lose(event) }
  }

  /// - Returns: whether there was room.
  private func yield(_ event: BrokerEvent, _ byteCount: Int) -> Bool {
    guard case .enqueued(let left) = continuation.yield(event) else { return false }
    guard byteCount > 0 else {
      lengths.withLock { $0.removeFirst(max($0.count - (Self.limit - left), 0)) }
      return true
    }
    lengths.withLock { lengths in
      lengths.append(byteCount)
      lengths.removeFirst(max(lengths.count - (Self.limit - left), 0))
    }
    return true
  }

  /// No more events will come.
  func finish() { continuation.finish() }

  private func lose(_ event: BrokerEvent) {
    lost.withLock { gap in
      let from = gap?.lowerBound ?? event.sequence
      gap = min(from, event.sequence)...max(gap?.upperBound ?? event.sequence, event.sequence)
    }
  }
}
#endif
