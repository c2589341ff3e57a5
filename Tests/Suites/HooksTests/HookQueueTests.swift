import BrokerProtocol
import TestSupport
import Testing

@testable import Hooks

/// The events that wait for a hook: bounded, the newest of each kind.
@Suite(.standardTimeLimit) struct HookQueueTests {
  private static func all(_ queue: HookQueue) -> [UInt64] {
    var (queue, sequences) = (queue, [UInt64]())
    while let event = queue.next() { sequences.append(event.sequence) }
    return sequences
  }

  private static func queue(_ events: [BrokerEvent]) -> HookQueue {
    events.reduce(into: HookQueue()) { $0.add($1) }
  }

  @Test func `of events of one name and profile the newest waits, at its own place`() {
    let events = [
      HookSample.event(1, .networkDown, "a"), HookSample.event(2, .networkDown, "b"),
      HookSample.event(3, .networkUp, "a"), HookSample.event(4, .networkDown, "a"),
      HookSample.event(5, .vaultLocked, nil), HookSample.event(6, .vaultLocked, nil),
    ]
    #expect(Self.all(Self.queue(events)) == [2, 3, 4, 6])
  }

  @Test func `each end and each alarm is told, but for one that says the same`() {
    let events = [
      HookSample.event(1, .securityAlert(SecurityAlertEvent(kind: .pinMismatch)), "a"),
      HookSample.event(2, .securityAlert(SecurityAlertEvent(kind: .storeTampering)), "a"),
      HookSample.event(3, .securityAlert(SecurityAlertEvent(kind: .pinMismatch)), "a"),
    ]
    #expect(Self.all(Self.queue(events)) == [2, 3])
  }

  @Test func `of too many the oldest are dropped and counted`() {
    let count = HookQueue.most + 10
    var queue = Self.queue((1...UInt64(count)).map { HookSample.event($0, .networkDown, "p\($0)") })
    #expect(queue.takeDropped() == 10 && queue.takeDropped() == 0)
    #expect(Self.all(queue) == Array(11...UInt64(count)))
    queue.clear()
    #expect(queue.isEmpty)
  }
}

/// Events for hooks.
enum HookSample {
  static func event(_ sequence: UInt64, _ payload: EventPayload, _ profile: String?) -> BrokerEvent {
    BrokerEvent(
      sequence: sequence, profile: profile.flatMap { ProfileName($0) },
      time: Timestamp(milliseconds: 1_800_000_000_000), payload: payload)
  }
}
