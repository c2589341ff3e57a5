import BrokerCore
import BrokerProtocol
import LinuxSystem
import Records
import SQLite
import SQLiteStore
import SecretMemory
import Synchronization
import TestSupport
import Testing

/// Vaults that earlier versions have written: each must be read by every later one.
@Suite(.standardTimeLimit) struct VaultMigrationTests {
  /// The vault of a version as it was kept, with obviously fake tokens.
  private func fixture(_ version: Int) throws -> TemporaryVault {
    let place = try TemporaryVault()
    let directory = PathName.directory(of: #filePath) + "/Fixtures/schema-\(version)"
    for (end, name) in [(".sqlite", "vault.sqlite"), (".key", "vault.key")] {
      let file = try FileDescriptor.open(directory + end, .read)
      try place.write(file.contents(limit: 1 << 20), to: name)
    }
    return place
  }

  private func expectFirst(_ vault: Vault) async throws {
    let contents = try await vault.load()
    let second = try Sample.living("second", generation: 7, token: "not-a-real-token")
    #expect(try contents.records == (Sample.all() + [second]).sorted { $0.profile < $1.profile })
    #expect(contents.tampered.isEmpty && !contents.isSuspect && contents.lastSequence == 4_242)
    #expect(contents.completeness.all == 4_242)
    let token = try Secret(utf8: "fake")
    #expect(vault.entropy.tokenID(of: token) == "v-PLNeFWHBGZJr2G")
  }

  @Test func `a vault of the first schema is brought to this one, and a copy of it is kept`() async throws {
    let place = try fixture(1)
    let original = try place.withConnection { try SealedCells.session.cells($0).map(\.box) }
    let vault = try await place.locked()
    let before = await vault.status
    #expect(before.isLocked && before.isInitialized && before.schemaVersion == 1 && before.keySource == .file)
    try await vault.unlock(nil)
    try await expectFirst(vault)
    try await vault.save(Sample.living("second", generation: 8))
    #expect(await vault.status.schemaVersion == 7)
    #expect(place.scratch.mode("vault.sqlite.backup-1") == 0o600)
    try await vault.close()
    #expect(place.files == ["vault.key", "vault.sqlite", "vault.sqlite.backup-1"])
    let resealed = try place.withConnection { try SealedCells.session.cells($0).map(\.box) }
    #expect(Set(original).isDisjoint(with: resealed))
    // The copy is the vault as it was: it can be put back.
    let kept = try fixture(1)
    try kept.write(place.bytes(of: "vault.sqlite.backup-1"), to: "vault.sqlite")
    #expect(try kept.withConnection { try SealedCells.session.cells($0).map(\.box) } == original)
    let restored = try await kept.open()
    try await expectFirst(restored)
    try await restored.close()
  }

  @Test func `a migration that ends anywhere leaves a vault that opens`() async throws {
    let place = try fixture(1)
    let copies = Mutex<[(step: VaultStep, place: TemporaryVault)]>([])
    let vault = try await place.locked(reached: { step in
      guard let copy = try? place.copy() else { return }
      copies.withLock { $0.append((step, copy)) }
    })
    try await vault.unlock(nil)
    try await vault.close()
    let remains = copies.withLock { $0 }
    #expect(remains.map(\.step) == [.backedUp, .resealed, .committed])
    for (_, remaining) in remains {
      let vault = try await remaining.open()
      try await expectFirst(vault)
      try await vault.close()
      #expect(remaining.files == ["vault.key", "vault.sqlite", "vault.sqlite.backup-1"])
    }
  }

  @Test func `with another key nothing is migrated`() async throws {
    let place = try fixture(1)
    let before = try place.bytes(of: "vault.sqlite")
    try place.write([UInt8](repeating: 9, count: 32), to: "vault.key")
    let vault = try await place.locked()
    await #expect {
      try await vault.unlock(nil)
    } throws: { error in
      guard case KeyFailure.sourceUnavailable(let why) = error else { return false }
      return why.hasSuffix("its key source is file: restore its key file.")
    }
    try await vault.close()
    #expect(try place.bytes(of: "vault.sqlite") == before && place.files == ["vault.key", "vault.sqlite"])
  }

  @Test func `a record that was meddled with before is named after the migration`() async throws {
    let place = try fixture(1)
    try place.tamper("UPDATE session SET generation = 99 WHERE profile = 'second'")
    for _ in 0..<2 {
      let vault = try await place.open()
      let contents = try await vault.load()
      #expect(contents.tampered.map(\.description) == ["second"] && contents.records.count == 4)
      try await vault.close()
    }
  }

  @Test func `a copy that was not finished is not taken for one`() async throws {
    let place = try fixture(1)
    try place.scratch.write("half a copy", to: "vault.sqlite.backup-1.new")
    try await place.open().close()
    #expect(place.files == ["vault.key", "vault.sqlite", "vault.sqlite.backup-1"])
    #expect(try #require(place.scratch.size("vault.sqlite.backup-1")) > 4096)
  }

  private func expectLater(_ vault: Vault, schema: Int) async throws {
    let contents = try await vault.load()
    var later = try Sample.living("later", generation: 3)
    var session = try #require(later.living)
    session.unknownMembers = try Secret(utf8: Sample.laterMembers)
    later.contents = .living(session)
    #expect(try contents.records == (Sample.all() + [later]).sorted { $0.profile < $1.profile })
    #expect(contents.tampered.isEmpty && !contents.isSuspect && contents.lastSequence == 4_242)
    #expect(try contents.intents == [Sample.intent("living", generation: 1)])
    #expect(try contents.pendingLogins == [Sample.login("other")])
    #expect(try contents.revocations == (schema < 3 ? [] : [Sample.revocation("out", 7)]))
    #expect(contents.completeness.all == 1)
    #expect(try await vault.events(after: 0, through: .max).events == [Sample.event(2), Sample.event(5)])
    let token = try Secret(utf8: "fake")
    #expect(vault.entropy.tokenID(of: token) == Sample.fixtureTokenIDs[schema])
  }

  @Test func `a vault of the second schema gets room for revocations, and a copy of it is kept`() async throws {
    let place = try fixture(2)
    let vault = try await place.locked()
    #expect(await vault.status.schemaVersion == 2)
    try await vault.unlock(nil)
    #expect(await vault.status.schemaVersion == 7)
    try await expectLater(vault, schema: 2)
    try await vault.commit([.openRevocation(Sample.revocation("out", 7))])
    try await vault.close()
    #expect(place.files == ["vault.key", "vault.sqlite", "vault.sqlite.backup-2"])
    #expect(place.scratch.mode("vault.sqlite.backup-2") == 0o600)
    let again = try await place.open()
    #expect(try await again.load().revocations == [Sample.revocation("out", 7)])
    #expect(try await again.check(isFull: true).filter(\.isError).isEmpty)
    try await again.close()
    // The copy is the vault as it was: it can be put back.
    let kept = try fixture(2)
    try kept.write(place.bytes(of: "vault.sqlite.backup-2"), to: "vault.sqlite")
    let restored = try await kept.open()
    try await expectLater(restored, schema: 2)
    try await restored.close()
  }

  @Test func `a migration of the second schema that ends anywhere leaves a vault that opens`() async throws {
    let place = try fixture(2)
    let copies = Mutex<[(step: VaultStep, place: TemporaryVault)]>([])
    let vault = try await place.locked(reached: { step in
      guard let copy = try? place.copy() else { return }
      copies.withLock { $0.append((step, copy)) }
    })
    try await vault.unlock(nil)
    try await vault.close()
    let remains = copies.withLock { $0 }
    #expect(remains.map(\.step) == [.backedUp, .committed])
    for (_, remaining) in remains {
      let vault = try await remaining.open()
      try await expectLater(vault, schema: 2)
      try await vault.close()
    }
  }

  @Test func `with another key a vault of the second schema stays as it was`() async throws {
    let place = try fixture(2)
    let before = try place.bytes(of: "vault.sqlite")
    try place.write([UInt8](repeating: 9, count: 32), to: "vault.key")
    let vault = try await place.locked()
    await #expect(throws: KeyFailure.self) { try await vault.unlock(nil) }
    try await vault.close()
    #expect(try place.bytes(of: "vault.sqlite") == before && place.files == ["vault.key", "vault.sqlite"])
  }

  @Test func `a vault of the third schema gets a second series of events, and a copy of it is kept`() async throws {
    let place = try fixture(3)
    let vault = try await place.locked()
    #expect(await vault.status.schemaVersion == 3)
    try await vault.unlock(nil)
    #expect(await vault.status.schemaVersion == 7)
    try await expectLater(vault, schema: 3)
    // An event from before is in the first series even where it is a lasting one; a later one is in the second.
    try await vault.commit([.event(Sample.event(4_243))])
    try await vault.close()
    #expect(place.files == ["vault.key", "vault.sqlite", "vault.sqlite.backup-3"])
    #expect(place.scratch.mode("vault.sqlite.backup-3") == 0o600)
    let again = try await place.open()
    let events = try await again.events(after: 0, through: .max).events
    #expect(try events == [Sample.event(2), Sample.event(5), Sample.event(4_243)])
    #expect(try await !again.load().isSuspect)
    #expect(try await again.check(isFull: true).filter(\.isError).isEmpty)
    try await again.close()
    // The copy is the vault as it was: it can be put back.
    let kept = try fixture(3)
    try kept.write(place.bytes(of: "vault.sqlite.backup-3"), to: "vault.sqlite")
    let restored = try await kept.locked()
    #expect(await restored.status.schemaVersion == 3)
    try await restored.unlock(nil)
    try await expectLater(restored, schema: 3)
    try await restored.close()
  }

  @Test func `what a newer version wrote into a record survives`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    var record = try Sample.living("a")
    var session = try #require(record.living)
    session.unknownMembers = try Secret(utf8: Sample.laterMembers)
    record.contents = .living(session)
    try await vault.save(record)
    for generation in 2...3 as ClosedRange<UInt64> {
      var read = try #require(try await vault.load().records.first)
      #expect(read.contents == record.contents)
      read.generation = generation
      try await vault.save(read)
    }
    try await vault.close()
  }
}
