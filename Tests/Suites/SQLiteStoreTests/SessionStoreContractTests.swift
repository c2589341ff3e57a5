import BrokerCore
import BrokerProtocol
import Records
import SQLiteStore
import SecretMemory
import TestSupport
import Testing

/// What every session store promises, checked on the real one and on the double.
@Suite(.standardTimeLimit) struct SessionStoreContractTests {
  enum Kind: CaseIterable, Sendable { case memory, vault }

  private func withStore(_ kind: Kind, _ body: (any SessionStore) async throws -> Void) async throws {
    switch kind {
    case .memory: try await body(InMemoryStore())
    case .vault:
      let place = try TemporaryVault()
      let vault = try await place.open()
      try await body(vault)
      try await vault.close()
    }
  }

  @Test(arguments: Kind.allCases)
  func `an empty store has nothing`(_ kind: Kind) async throws {
    try await withStore(kind) { store in
      let contents = try await store.load()
      #expect(contents.records.isEmpty && contents.tampered.isEmpty && contents.lastSequence == 0)
    }
  }

  @Test(arguments: Kind.allCases)
  func `every kind of record comes back as it was`(_ kind: Kind) async throws {
    try await withStore(kind) { store in
      let records = try Sample.all()
      for record in records { try await store.save(record) }
      #expect(try await store.load().records == records)
    }
  }

  @Test(arguments: Kind.allCases)
  func `a record that is not newer is refused`(_ kind: Kind) async throws {
    try await withStore(kind) { store in
      let kept = try Sample.living("a", generation: 5, token: "kept")
      try await store.save(kept)
      for generation in [5, 4] as [UInt64] {
        let late = try Sample.living("a", generation: generation, token: "late")
        await #expect(throws: StoreFailure.superseded) { try await store.save(late) }
      }
      #expect(try await store.load().records == [kept])
    }
  }

  @Test(arguments: Kind.allCases)
  func `of concurrent saves the newest stays`(_ kind: Kind) async throws {
    try await withStore(kind) { store in
      await withTaskGroup(of: Void.self) { group in
        for generation in 1...20 as ClosedRange<UInt64> {
          group.addTask {
            if let record = try? Sample.living("a", generation: generation) { try? await store.save(record) }
          }
        }
      }
      let contents = try await store.load()
      #expect(contents.records.map(\.generation) == [20])
    }
  }

  @Test(arguments: Kind.allCases)
  func `sequences never go back`(_ kind: Kind) async throws {
    try await withStore(kind) { store in
      for sequence in [100, 40, 100] as [UInt64] { try await store.reserveSequences(through: sequence) }
      #expect(try await store.load().lastSequence == 100)
    }
  }

  @Test(arguments: Kind.allCases)
  func `a superseded record undoes every step beside it`(_ kind: Kind) async throws {
    try await withStore(kind) { store in
      let kept = try Sample.living("a", generation: 5)
      try await store.commit([.record(kept), .openIntent(Sample.intent("a", generation: 5))])
      let before = try await store.load()
      await #expect(throws: StoreFailure.superseded) {
        try await store.commit([
          .record(Sample.living("b")), .event(Sample.event(1)), .openLogin(Sample.login("c")),
          .closeIntent(Sample.profile("a")), .eventsIncomplete(through: 9), .record(Sample.living("a", generation: 4)),
        ])
      }
      let after = try await store.load()
      #expect(after.records == [kept] && after.intents == before.intents && after.pendingLogins.isEmpty)
      #expect(after.completeness.all == before.completeness.all)
      #expect(try await store.events(after: 0, through: .max).events.isEmpty)
    }
  }

  @Test(arguments: Kind.allCases)
  func `an intent is there until its record is written or it is closed`(_ kind: Kind) async throws {
    try await withStore(kind) { store in
      let (first, second) = (try Sample.intent("a", generation: 1), try Sample.intent("b", generation: 1))
      try await store.commit([.record(Sample.living("a")), .record(Sample.living("b"))])
      try await store.commit([.openIntent(first), .openIntent(second)])
      #expect(try await store.load().intents.sorted { $0.profile < $1.profile } == [first, second])
      try await store.save(Sample.living("a", generation: 2))
      #expect(try await store.load().intents == [second])
      try await store.commit([.closeIntent(Sample.profile("b")), .closeIntent(Sample.profile("never"))])
      #expect(try await store.load().intents.isEmpty)
    }
  }

  @Test(arguments: Kind.allCases)
  func `a login waits until it is closed, and a later one takes its place`(_ kind: Kind) async throws {
    try await withStore(kind) { store in
      try await store.commit([.openLogin(Sample.login("a", flow: "first"))])
      let second = try Sample.login("a", flow: "second")
      try await store.commit([.openLogin(second)])
      #expect(try await store.load().pendingLogins == [second])
      try await store.save(Sample.living("a", generation: 3))
      #expect(try await store.load().pendingLogins == [second])
      try await store.commit([.closeLogin(Sample.profile("a"))])
      #expect(try await store.load().pendingLogins.isEmpty)
    }
  }

  @Test(arguments: Kind.allCases)
  func `a revocation rests until it is closed, whatever becomes of the profile's session`(_ kind: Kind) async throws {
    try await withStore(kind) { store in
      let all = try [("a", 1), ("a", 2), ("a", 10), ("b", 1), ("ab", 1)].map { name, number in
        try Sample.revocation(name, number)
      }
      try await store.commit(all.map { .openRevocation($0) })
      try await store.save(Sample.living("a", generation: 3))
      let sorted = all.sorted { ($0.id.profile, $0.id.number) < ($1.id.profile, $1.id.number) }
      #expect(try await store.load().revocations == sorted)
      let renewed = try Sample.revocation("a", 2, token: "another")
      try await store.commit([.openRevocation(renewed), .closeRevocation(all[0].id)])
      #expect(try await store.load().revocations.first == renewed)
      try await store.commit(all.map { .closeRevocation($0.id) } + [.closeRevocation(Sample.revocation("z", 9).id)])
      #expect(try await store.load().revocations.isEmpty)
    }
  }

  @Test(arguments: Kind.allCases)
  func `a session that the configuration has signed out rests until it is closed`(_ kind: Kind) async throws {
    try await withStore(kind) { store in
      let time = Timestamp(milliseconds: 1_700_000_000_000)
      let one = ParkedSession(try Sample.living("a", generation: 3), since: time)
      var other = ParkedSession(try Sample.living("a", generation: 9), since: time, mayBeSpent: true)
      other.record.binding.issuer = "https://other.example"
      try await store.commit([.park(one), .park(other), .record(Sample.living("a", generation: 4))])
      let parked = try await store.load().parked.sorted { $0.record.generation < $1.record.generation }
      #expect(parked == [one, other])
      other.mayBeSpent = false
      try await store.commit([.unpark(one.id), .park(other)])
      #expect(try await store.load().parked == [other])
      try await store.commit([.unpark(other.id), .unpark(other.id)])
      #expect(try await store.load().parked.isEmpty)
    }
  }

  @Test(arguments: Kind.allCases)
  func `a record that is superseded takes the revocation beside it along`(_ kind: Kind) async throws {
    try await withStore(kind) { store in
      try await store.save(Sample.living("a", generation: 5))
      await #expect(throws: StoreFailure.superseded) {
        try await store.commit([
          .openRevocation(Sample.revocation("a", 1)), .record(Sample.living("a", generation: 5)),
        ])
      }
      #expect(try await store.load().revocations.isEmpty)
    }
  }

  @Test(arguments: Kind.allCases)
  func `a login rests with everything that it needs to go on`(_ kind: Kind) async throws {
    try await withStore(kind) { store in
      for record in try Sample.fullLogins("a") {
        try await store.commit([.openLogin(record)])
        #expect(try await store.load().pendingLogins == [record])
      }
    }
  }

  @Test(arguments: Kind.allCases)
  func `events come back in order, between two sequences`(_ kind: Kind) async throws {
    try await withStore(kind) { store in
      let events = try [3, 4, 9, 10].map { try Sample.event($0) }
      for event in events { try await store.commit([.event(event)]) }
      #expect(try await store.events(after: 0, through: .max).events == events)
      #expect(try await store.events(after: 3, through: 9).events == Array(events[1...2]))
      #expect(try await store.events(after: 10, through: .max).events.isEmpty)
      try await store.commit([.eventsIncomplete(through: 4), .eventsIncomplete(through: 2)])
      #expect(try await store.load().completeness.all == 4)
    }
  }

  @Test func `a double that is told to fail writes nothing`() async throws {
    let store = InMemoryStore()
    store.failure = .failed(context: "test")
    let record = try Sample.living("a")
    await #expect(throws: StoreFailure.failed(context: "test")) { try await store.save(record) }
    #expect(try await store.load().records.isEmpty && store.saveCount == 0)
  }
}
