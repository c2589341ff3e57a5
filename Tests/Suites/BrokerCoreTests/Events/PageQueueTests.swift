import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

/// Which page of kept events is read next.
@Suite(.standardTimeLimit) struct PageQueueTests {
  /// A subscription of a connection that wants its first page, or another one behind so many events.
  private static func reading(_ client: UInt64, behind count: UInt64 = 0) -> PageReading {
    var start = SubscriptionStart(
      Caller(CallerID(client), as: .broker), ClientID(client), SubscriptionHub.Wish(), since: 0)
    let events = (0..<count).map { number in
      BrokerEvent(
        sequence: number + 1, profile: .default, time: Timestamp(milliseconds: 0),
        payload: .loginFailed(LoginFailedEvent(kind: "invalidCredentials")))
    }
    if count > 0 {
      start.add(StoredEvents(events: events, through: count, completeness: EventCompleteness()))
    }
    return PageReading(client: ClientID(client), after: count, through: 100, purpose: .beginning(start))
  }

  /// The order in which pages are read: of each its connection, and behind how many events.
  private static func order(_ readings: [PageReading]) -> [String] {
    var queue = PageQueue()
    for reading in readings { queue.add(reading) }
    var order: [String] = []
    while let next = queue.takeNext() {
      order.append("\(next.client.number) behind \(next.after)")
      queue.noteFinished()
    }
    return order
  }

  @Test func `connections take turns`() {
    let readings = [1, 1, 1, 2, 2].map { Self.reading($0) }
    #expect(Self.order(readings) == [1, 2, 1, 2, 1].map { "\($0) behind 0" })
  }

  @Test func `a subscription that holds events is finished before another one is begun`() {
    let readings = [Self.reading(1), Self.reading(2), Self.reading(1, behind: 3)]
    #expect(Self.order(readings) == ["1 behind 3", "2 behind 0", "1 behind 0"])
  }
}
