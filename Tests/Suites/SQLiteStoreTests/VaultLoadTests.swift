import BrokerCore
import BrokerProtocol
import Records
import SQLiteStore
import SecretMemory
import TestSupport
import Testing

/// Many callers at once, many profiles, little memory.
@Suite(.standardTimeLimit) struct VaultLoadTests {
  @Test func `a hundred callers lock, unlock, write and read at once`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    // The broker commits events in the order of their sequences: one task does it here.
    async let kept = Self.keepEvents(25, in: vault)
    let written = await withTaskGroup(of: ProfileName?.self) { group in
      for index in 0..<100 {
        group.addTask {
          do {
            switch index % 4 {
            case 0: await vault.lock()
            case 1: try await vault.unlock(nil)
            case 2: _ = try await vault.load()
            default:
              let record = try Sample.living("p\(index)")
              try await vault.commit([.record(record)])
              return record.profile
            }
          } catch {
            if error as? StoreFailure != .locked { Issue.record("\(error)") }
          }
          return nil
        }
      }
      return await group.reduce(into: Set<ProfileName>()) { names, name in if let name { names.insert(name) } }
    }
    let eventCount = await kept
    try await vault.unlock(nil)
    let contents = try await vault.load()
    #expect(Set(contents.records.map(\.profile)) == written && contents.tampered.isEmpty && !contents.isSuspect)
    #expect(try await vault.events(after: 0, through: .max).events.count == eventCount)
    #expect(try await vault.check(isFull: true).filter(\.isError).isEmpty)
    try await vault.close()
  }

  /// Commits events one after the other; how many the vault took before it was locked, or after it was unlocked.
  private static func keepEvents(_ count: UInt64, in vault: Vault) async -> Int {
    var kept = 0
    for sequence in 1...count {
      do {
        try await vault.commit([.event(Sample.event(sequence))])
        kept += 1
      } catch {
        if error as? StoreFailure != .locked { Issue.record("\(error)") }
      }
    }
    return kept
  }

  @Test(.plainBuild) func `three thousand profiles are written, read and checked`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    let clock = ContinuousClock()
    let writing = try await clock.measure {
      // All of them together are longer than the arena: they have room because they rest.
      let token = String(repeating: "t", count: SecretArena.defaultCapacity / 2_500)
      for start in stride(from: 0, to: 3_000, by: 250) {
        try await vault.commit((start..<start + 250).map { .record(try Sample.living("p\($0)", token: token)) })
      }
    }
    let single = try await clock.measure {
      for index in 0..<100 { try await vault.save(Sample.living("p\(index)", generation: 2)) }
    }
    try await vault.close()
    let again = try await place.locked()
    let unlocking = try await clock.measure { try await again.unlock(nil) }
    let reading = try await clock.measure {
      let contents = try await again.load()
      #expect(contents.records.count == 3_000 && contents.tampered.isEmpty && !contents.isSuspect)
      let lengths = contents.records.map { record in
        if case .living(let session) = record.contents { session.tokens.accessToken.value.byteCount } else { 0 }
      }
      #expect(lengths.reduce(0, +) > SecretArena.defaultCapacity)
    }
    print("3,000 profiles: write \(writing), one more \(single / 100), unlock \(unlocking), load \(reading)")
    try await again.close()
  }
}
