import BrokerCore
import BrokerProtocol
import LinuxSystem
import Records
import SQLiteStore
import TestSupport
import Testing

/// Older copies of the whole vault, and the anchor that knows better.
@Suite(.standardTimeLimit) struct VaultRollbackTests {
  private func kinds(_ vault: Vault) async throws -> [String] {
    try await vault.check(isFull: true).map(\.kind).filter { $0 != "memoryUnlocked" }
  }

  /// A vault with four changes, closed, and a copy of it from before the last two.
  private func makePair() async throws -> (old: TemporaryVault, new: TemporaryVault) {
    let place = try TemporaryVault()
    let vault = try await place.open()
    for generation in 1...2 as ClosedRange<UInt64> { try await vault.save(Sample.living("a", generation: generation)) }
    try await vault.close()
    let old = try place.copy()
    let again = try await place.open()
    for generation in 3...4 as ClosedRange<UInt64> { try await again.save(Sample.living("a", generation: generation)) }
    try await again.close()
    return (old, place)
  }

  private func replaceVault(of place: TemporaryVault, by other: TemporaryVault) throws {
    try place.write(other.bytes(of: "vault.sqlite"), to: "vault.sqlite")
  }

  @Test func `an older copy of the whole vault is noticed once`() async throws {
    let (old, new) = try await makePair()
    try replaceVault(of: new, by: old)
    let vault = try await new.open()
    let contents = try await vault.load()
    #expect(contents.isSuspect && contents.records.map(\.generation) == [2])
    // Sequences that were given since are not given again, and what was told since cannot be replayed.
    #expect(contents.lastSequence >= 1 << 20 && contents.completeness.all == contents.lastSequence)
    #expect(try await kinds(vault) == ["rolledBack"])
    try await vault.save(Sample.living("a", generation: 9))
    try await vault.close()
    let again = try await new.open()
    #expect(try await !again.load().isSuspect)
    #expect(try await kinds(again).isEmpty)
    try await again.close()
  }

  @Test func `a row of a newer copy keeps no record out`() async throws {
    let (old, new) = try await makePair()
    try old.tamper("DELETE FROM session")
    try old.takeRows(from: new, withManifest: false)
    let vault = try await old.open()
    #expect(try await vault.load().tampered == [Sample.profile("a")])
    try await vault.save(Sample.living("a", generation: 3))
    let contents = try await vault.load()
    #expect(contents.tampered.isEmpty && contents.records.map(\.generation) == [3])
    try await vault.close()
  }

  @Test func `without a second directory an older copy is not noticed, and that is said`() async throws {
    let (old, new) = try await makePair()
    try replaceVault(of: new, by: old)
    let vault = try await new.open(isAnchored: false)
    #expect(try await !vault.load().isSuspect)
    #expect(try await kinds(vault) == ["rollbackUnnoticed"])
    #expect(await !vault.status.noticesRollback)
    try await vault.close()
  }

  @Test func `an anchor that is gone is told, and made anew`() async throws {
    let (_, new) = try await makePair()
    try DirectoryEntry.remove(new.anchorPath)
    let vault = try await new.open()
    #expect(await vault.status.noticesRollback)
    #expect(try await !vault.load().isSuspect)
    #expect(try await kinds(vault) == ["rollbackUnnoticed"])
    try await vault.save(Sample.living("a", generation: 5))
    try await vault.close()
    let again = try await new.open()
    #expect(try await kinds(again).isEmpty)
    try await again.close()
  }

  @Test(arguments: [0, 70, 100]) func `a damaged slot of the anchor leaves the other one`(_ position: Int) async throws
  {
    let (old, new) = try await makePair()
    var anchor = try new.elsewhere.bytes(of: "vault.anchor")
    anchor[position] ^= 1
    try new.elsewhere.write(anchor, to: "vault.anchor")
    let whole = try await new.open()
    #expect(try await !whole.load().isSuspect)
    try await whole.close()
    try replaceVault(of: new, by: old)
    let rolledBack = try await new.open()
    let contents = try await rolledBack.load()
    #expect(contents.isSuspect && contents.mayBeOlder)
    #expect(await rolledBack.status.mayBeOlder)
    try await rolledBack.close()
  }

  @Test func `another vault's anchor is an alarm, and written over`() async throws {
    let (_, new) = try await makePair()
    let (_, other) = try await makePair()
    let foreign = try await other.open()
    for generation in 10...20 as ClosedRange<UInt64> {
      try await foreign.save(Sample.living("a", generation: generation))
    }
    try await foreign.close()
    try new.elsewhere.write(other.elsewhere.bytes(of: "vault.anchor"), to: "vault.anchor")
    let vault = try await new.open()
    #expect(try await vault.load().isSuspect)
    #expect(try await kinds(vault) == ["rolledBack"])
    for generation in 5...6 as ClosedRange<UInt64> { try await vault.save(Sample.living("a", generation: generation)) }
    try await vault.close()
    let again = try await new.open()
    #expect(try await kinds(again).isEmpty)
    try await again.close()
  }

  @Test func `a process that ends at any moment raises no false alarm`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    for generation in 1...12 as ClosedRange<UInt64> {
      try await vault.commit([.record(Sample.living("a", generation: generation)), .event(Sample.event(generation))])
      let copy = try place.copy()
      // As long as the vault is open, its directory must be there.
      defer { withExtendedLifetime(copy) {} }
      let restarted = try await copy.open()
      let contents = try await restarted.load()
      #expect(!contents.isSuspect && contents.tampered.isEmpty && contents.records.map(\.generation) == [generation])
      #expect(try await kinds(restarted).isEmpty)
      try await restarted.close()
    }
    try await vault.close()
  }

  @Test func `a clock that was set back is told`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open(now: { 500_000_000_000 })
    try await vault.save(Sample.living("a"))
    try await vault.close()
    let late = try await place.open(now: { 500_000_000_000 - 86_500_000 })
    #expect(try await kinds(late) == ["clockSetBack"])
    try await late.close()
    let fine = try await place.open(now: { 500_000_000_000 - 86_300_000 })
    #expect(try await kinds(fine).isEmpty)
    try await fine.close()
  }
}
