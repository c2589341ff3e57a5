import BrokerCore
import BrokerProtocol
import Records
import SQLiteStore
import Synchronization
import TestSupport
import Testing

/// Which events are kept, and for how long.
@Suite(.standardTimeLimit) struct VaultEventTests {
  private static let day: Int64 = 86_400_000

  @Test(.plainBuild) func `the last ten thousand events are kept`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    let extra: UInt64 = 7
    for start in stride(from: 1, through: 10_000 + extra, by: 500) as StrideThrough<UInt64> {
      let last = min(start + 499, 10_000 + extra)
      try await vault.commit((start...last).map { .event(try Sample.event($0)) })
    }
    let contents = try await vault.load()
    #expect(contents.completeness.all == extra && !contents.isSuspect)
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
    #expect(try await vault.load().completeness.all == 2)
    // A clock that is behind the newest event removes nothing.
    now.withLock { $0 = 50 * Self.day }
    try await vault.commit([.event(Sample.event(5, at: 101 * Self.day))])
    #expect(try await vault.events(after: 0, through: .max).events.map(\.sequence) == [3, 4, 5])
    now.withLock { $0 = 500 * Self.day }
    try await vault.commit([.event(Sample.event(6, at: 500 * Self.day))])
    #expect(try await vault.events(after: 0, through: .max).events.map(\.sequence) == [6])
    #expect(try await vault.load().completeness.all == 5)
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

  private static func failure(_ sequence: UInt64, at time: Int64 = 1_000) throws -> BrokerEvent {
    BrokerEvent(
      sequence: sequence, profile: try Sample.profile("a"), time: Timestamp(milliseconds: time),
      payload: .loginFailed(LoginFailedEvent(kind: "invalidCredentials")))
  }

  @Test(.plainBuild) func `a flood of failed logins pushes out no login`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    try await vault.commit((1...3).map { .event(try Sample.event($0)) })
    for start in stride(from: 4, through: 10_503, by: 500) as StrideThrough<UInt64> {
      try await vault.commit((start...start + 499).map { .event(try Self.failure($0)) })
    }
    let kept = try await vault.events(after: 0, through: .max)
    #expect(kept.events.count == 10_000 && kept.events.prefix(3).map(\.sequence) == [1, 2, 3])
    #expect(kept.completeness == EventCompleteness(all: 506, lasting: 0))
    try await vault.close()
    let again = try await place.open()
    let contents = try await again.load()
    #expect(!contents.isSuspect && contents.completeness.all == 506 && contents.completeness.lasting == 0)
    #expect(try await again.check(isFull: true).filter(\.isError).isEmpty)
    // The other way round, the last failures stay.
    for start in stride(from: 20_000, through: 29_500, by: 500) as StrideThrough<UInt64> {
      try await again.commit((start...start + 499).map { .event(try Sample.event($0)) })
    }
    let events = try await again.events(after: 0, through: .max).events
    #expect(events.count == 10_000 && events.count { $0.payload.name == .loginFailed } == 2_000)
    try await again.close()
  }

  private static func long(_ sequence: UInt64) throws -> BrokerEvent {
    var challenge = try Sample.challenge("a")
    challenge.maskedDestination = String(repeating: "x", count: 3_000)
    return BrokerEvent(
      sequence: sequence, profile: try Sample.profile("a"), time: Timestamp(milliseconds: 1_000),
      payload: .otpChallenge(challenge))
  }

  @Test(.plainBuild) func `events are kept by their bytes as well`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    for start in stride(from: 1, through: 4_000, by: 100) as StrideThrough<UInt64> {
      try await vault.commit((start..<start + 100).map { .event(try Self.long($0)) })
    }
    let kept = try await vault.events(after: 0, through: .max).events
    #expect((2_000...2_800).contains(kept.count) && kept.last?.sequence == 4_000)
    #expect(try place.bytes(of: "vault.sqlite").count < 16 << 20)
    try await vault.close()
    let again = try await place.open()
    // All are of one length, so the next one takes the place of the oldest: the bytes are known after a start too.
    try await again.commit([.event(Self.long(4_001))])
    let later = try await again.events(after: 0, through: .max).events
    #expect(later.count == kept.count && later.first == kept.dropFirst().first && later.last?.sequence == 4_001)
    try await again.close()
  }

  @Test func `a page ends where it has enough, and the next one goes on behind it`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    try await vault.commit((1...50).map { .event(try $0.isMultiple(of: 7) ? Sample.event($0) : Self.failure($0)) })
    var (through, sequences): (UInt64, [UInt64]) = (0, [])
    while through < 50 {
      let page = try await vault.events(after: through, through: 50, limit: 8)
      #expect(page.events.count <= 8 && page.through > through)
      sequences += page.events.map(\.sequence)
      through = page.through
    }
    #expect(sequences == Array(1...50))
    try await vault.close()
  }
}
