import BrokerCore
import SecretMemory
import TestSupport
import Testing
import Vault

/// What every session store promises, checked on the real one and on the double.
@Suite struct SessionStoreContractTests {
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

  @Test func `a double that is told to fail writes nothing`() async throws {
    let store = InMemoryStore()
    store.failure = .failed(context: "test")
    let record = try Sample.living("a")
    await #expect(throws: StoreFailure.failed(context: "test")) { try await store.save(record) }
    #expect(try await store.load().records.isEmpty && store.saveCount == 0)
  }
}
