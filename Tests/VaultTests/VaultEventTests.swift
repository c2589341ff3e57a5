import BrokerCore
import BrokerProtocol
import Synchronization
import TestSupport
import Testing
import Vault

/// Which events are kept, and for how long.
@Suite(.standardTimeLimit) struct VaultEventTests {
  private static let day: Int64 = 86_400_000

  @Test func `the last ten thousand events are kept`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    let extra: UInt64 = 7
    for start in stride(from: 1, through: 10_000 + extra, by: 500) as StrideThrough<UInt64> {
      let last = min(start + 499, 10_000 + extra)
      try await vault.commit((start...last).map { .event(try Sample.event($0)) })
    }
    let contents = try await vault.load()
    #expect(contents.eventsCompleteAfter == extra && !contents.isSuspect)
    let events = try await vault.events(after: 0, through: .max).events
    #expect(events.count == 10_000 && events.first?.sequence == extra + 1)
    try await vault.close()
    let again = try await place.open()
    #expect(try await !again.load().isSuspect)
    #expect(try await again.check(isFull: true).filter(\.isError).isEmpty)
    try await again.close()
  }

  @Test func `events older than thirty days go with the next one`() async throws {
    let now = Mutex<Int64>(100 * Self.day)
    let place = try TemporaryVault()
    let vault = try await place.open(now: { now.withLock { $0 } })
    for (sequence, day) in [(1, 60), (2, 69), (3, 71), (4, 100)] as [(UInt64, Int64)] {
      try await vault.commit([.event(Sample.event(sequence, at: day * Self.day))])
    }
    #expect(try await vault.events(after: 0, through: .max).events.map(\.sequence) == [3, 4])
    #expect(try await vault.load().eventsCompleteAfter == 2)
    // A clock that is behind the newest event removes nothing.
    now.withLock { $0 = 50 * Self.day }
    try await vault.commit([.event(Sample.event(5, at: 101 * Self.day))])
    #expect(try await vault.events(after: 0, through: .max).events.map(\.sequence) == [3, 4, 5])
    now.withLock { $0 = 500 * Self.day }
    try await vault.commit([.event(Sample.event(6, at: 500 * Self.day))])
    #expect(try await vault.events(after: 0, through: .max).events.map(\.sequence) == [6])
    #expect(try await vault.load().eventsCompleteAfter == 5)
    try await vault.close()
  }

  @Test func `every kind of event comes back as it was`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    let payloads: [EventPayload] = [
      .login(LoginEvent(userID: nil, method: "otp")), .configReloaded,
      .otpChallenge(try Sample.challenge("a")),
    ]
    let events = try payloads.enumerated().map { index, payload in
      BrokerEvent(
        sequence: UInt64(index + 1), profile: index == 1 ? nil : try Sample.profile("a"),
        time: Timestamp(milliseconds: 1_700_000_000_123), payload: payload)
    }
    try await vault.commit(events.map { .event($0) })
    #expect(try await vault.events(after: 0, through: .max).events == events)
    try await vault.close()
  }
}
