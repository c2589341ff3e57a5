#if !hasFeature(Embedded)
public import BrokerProtocol

/// The events of a subscription, in order, behind the state that they change.
///
/// They go on behind the last event where the broker has ended: one that was killed is started again if the location
/// allows it, one that was stopped is waited for. `eventsLost` says what was missed: what the broker no longer keeps, or
/// what this program read too slowly; ask for the sessions then. The sequence ends with ``BrokerClient/close()``, and with
/// its connection where no other broker can be found; it never throws. Leaving the loop ends the subscription.
public struct BrokerEvents: AsyncSequence, Sendable {
  /// The element of the sequence.
  public typealias Element = BrokerEvent
  /// It ends; it does not fail.
  public typealias Failure = Never

  /// The state of the sessions when the subscription began.
  public let snapshot: Subscribe.Result

  /// Keeps the connection open while it is read.
  private let client: BrokerClient
  private let stream: AsyncStream<BrokerEvent>

  /// The events of a queue.
  init(snapshot: Subscribe.Result, client: BrokerClient, stream: AsyncStream<BrokerEvent>) {
    self.snapshot = snapshot
    self.client = client
    self.stream = stream
  }

  /// Begins to read.
  ///
  /// Of two iterators each would get a part of the events, so make one.
  public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator(), client: client) }

  /// Reads events one after the other.
  public struct Iterator: AsyncIteratorProtocol {
    private var base: AsyncStream<BrokerEvent>.Iterator
    private let client: BrokerClient

    /// Reads from a stream.
    init(base: AsyncStream<BrokerEvent>.Iterator, client: BrokerClient) {
      self.base = base
      self.client = client
    }

    /// Waits for the next event; nil at the end of the sequence, or when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> BrokerEvent? {
      await base.next(isolation: actor)
    }

    /// Waits for the next event; nil at the end of the sequence, or when the task is cancelled.
    public mutating func next() async -> BrokerEvent? { await base.next(isolation: #isolation) }
  }
}
#endif
