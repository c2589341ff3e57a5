import BrokerCore
import BrokerProtocol
import SQLiteStore
import TestSupport
import Testing

/// What has ended on a disk without any room, and does not come back.
///
/// Needs the right to mount a file system: where there is none, these tests do not run.
@Suite(.standardTimeLimit, .serialized) struct VaultTombstoneTests {
  private static func signedOut(_ name: String, _ generation: UInt64 = 2) throws -> StoreStep {
    .record(
      SessionRecord(
        profile: try Sample.profile(name), binding: ProviderBinding(type: "oidc"), generation: generation,
        contents: .signedOut(at: Timestamp(milliseconds: 1))))
  }

  /// A vault of three sessions on a disk without room, not even that which is kept for it.
  private static func stage() async throws -> (SmallDisk, Vault) {
    let disk = try SmallDisk(byteCount: 2 << 20)
    let vault = try await disk.open()
    for name in ["a", "b", "c"] { try await vault.save(Sample.living(name)) }
    try await vault.reserveSequences(through: 50)
    try disk.fillUp()
    // The log has a few pages still.
    var generation: UInt64 = 2
    while (try? await vault.save(Sample.living("b", generation: generation))) != nil { generation += 1 }
    return (disk, vault)
  }

  private static func living(_ contents: StoreContents) -> [String] {
    contents.records.filter { $0.living != nil }.map(\.profile.description)
  }

  @Test(.enabled(if: SmallFileSystem.canMount)) func `a logout holds without any room, over a start without any`()
    async throws
  {
    let (disk, vault) = try await Self.stage()
    try await vault.commit([Self.signedOut("a")])
    await #expect(throws: StoreFailure.self) { try await vault.save(Sample.living("b", generation: 5_000)) }
    #expect(try await Self.living(vault.load()) == ["b", "c"])
    try? await vault.close()
    let again = try await disk.open()
    let contents = try await again.load()
    #expect(Self.living(contents) == ["b", "c"] && contents.tampered.isEmpty && !contents.isSuspect)
    #expect(try await again.check(isFull: true).filter(\.isError).isEmpty)
    // There is room: the row goes, its tokens are to be revoked, and the profile begins again.
    try disk.free()
    try await again.save(Sample.living("c", generation: 9_000))
    #expect(try await again.load().revocations.map(\.id.profile.description) == ["a"])
    try await again.save(Sample.living("a"))
    #expect(try await Self.living(again.load()) == ["a", "b", "c"])
    try await again.close()
    let last = try await disk.open()
    #expect(try await Self.living(last.load()) == ["a", "b", "c"])
    try await last.close()
  }

  @Test(.enabled(if: SmallFileSystem.canMount))
  func `a logout holds where the process is killed with it, and there is room`()
    async throws
  {
    let (disk, vault) = try await Self.stage()
    try await vault.commit([Self.signedOut("a")])
    try disk.free()
    let copy = try disk.place.copy()
    let again = try await copy.open()
    let contents = try await again.load()
    #expect(Self.living(contents) == ["b", "c"] && contents.tampered.isEmpty && !contents.isSuspect)
    #expect(contents.revocations.map(\.id.profile.description) == ["a"])
    #expect(contents.completeness.lasting == contents.lastSequence)
    try await again.close()
    try await vault.close()
  }

  @Test(.enabled(if: SmallFileSystem.canMount))
  func `what went with it is written as soon as there is room, in order`() async throws {
    let (disk, vault) = try await Self.stage()
    let profile = try Sample.profile("a")
    let event = BrokerEvent(
      sequence: 40, profile: profile, time: Timestamp(milliseconds: 1), payload: .logout(LogoutEvent(reason: .user)))
    try await vault.commit([Self.signedOut("a"), .closeLogin(profile), .event(event)])
    #expect(try await vault.load().completeness.lasting == 50, "it is not there yet")
    try disk.free()
    try await vault.save(Sample.living("a", generation: 3))
    let contents = try await vault.load()
    #expect(contents.records.first?.generation == 3 && contents.revocations.isEmpty)
    #expect(try await vault.events(after: 0, through: 100, limit: 10).events == [event])
    try await vault.close()
  }

  @Test(.enabled(if: SmallFileSystem.canMount))
  func `a kept session ends as durably, and its profile is not blamed for the row`() async throws {
    let disk = try SmallDisk(byteCount: 2 << 20)
    let vault = try await disk.open()
    let session = ParkedSession(try Sample.living("a"), since: Timestamp(milliseconds: 1), mayBeSpent: false)
    try await vault.commit([.park(session), .record(Sample.living("b"))])
    try disk.fillUp()
    var generation: UInt64 = 2
    while (try? await vault.save(Sample.living("b", generation: generation))) != nil { generation += 1 }
    try await vault.commit([.unpark(session.id)])
    for _ in 0..<2 {
      let copy = try disk.place.copy()
      let again = try await copy.open()
      let contents = try await again.load()
      #expect(contents.parked.isEmpty && contents.tampered.isEmpty && Self.living(contents) == ["b"])
      try await again.close()
    }
    try disk.free()
    try await vault.close()
  }

  @Test(.enabled(if: SmallFileSystem.canMount))
  func `nothing but an end is acknowledged without room`() async throws {
    let (disk, vault) = try await Self.stage()
    await #expect(throws: StoreFailure.self) {
      try await vault.commit([Self.signedOut("a"), .record(Sample.living("c", generation: 5_000))])
    }
    await #expect(throws: StoreFailure.self) {
      try await vault.commit([Self.signedOut("a"), .openIntent(Sample.intent("b", generation: 9))])
    }
    #expect(try await Self.living(vault.load()) == ["a", "b", "c"])
    try disk.free()
    try await vault.close()
  }

  @Test(.enabled(if: SmallFileSystem.canMount))
  func `keys are changed only once the rows are gone`() async throws {
    let (disk, vault) = try await Self.stage()
    try await vault.commit([Self.signedOut("a")])
    await #expect(throws: KeyFailure.self) { try await vault.rekey(Rekey.Params()) }
    try disk.free()
    try await vault.rekey(Rekey.Params())
    #expect(try await Self.living(vault.load()) == ["b", "c"])
    try await vault.close()
    let again = try await disk.open()
    #expect(try await Self.living(again.load()) == ["b", "c"])
    try await again.close()
  }

  @Test(arguments: ["zeros", "another vault's", "a slot cut off"])
  func `a file that says nothing of this vault is no tombstone`(_ damage: String) async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    try await vault.save(Sample.living("a"))
    try await vault.close()
    let size = try #require(place.scratch.size("vault.sqlite.ended"))
    var bytes = [UInt8](repeating: 0, count: Int(size))
    if damage == "another vault's" { bytes.replaceSubrange(0..<8, with: "ABENDED1".utf8) }
    if damage == "a slot cut off" { bytes.removeLast(100) }
    try place.scratch.write(bytes, to: "vault.sqlite.ended")
    let again = try await place.open()
    #expect(try await again.load().records.count == 1)
    try await again.close()
    #expect(place.scratch.size("vault.sqlite.ended") == size)
  }
}
