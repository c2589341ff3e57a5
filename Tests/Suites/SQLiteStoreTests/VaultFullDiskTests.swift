import BrokerCore
import BrokerProtocol
import SQLiteStore
import TestSupport
import Testing

/// A disk without room, as a small file system in memory.
///
/// Needs the right to mount one: where there is none, these tests do not run.
@Suite(.standardTimeLimit, .serialized) struct VaultFullDiskTests {
  @Test(.enabled(if: SmallFileSystem.canMount))
  func `a logout works on a full disk, and later changes after room was made`()
    async throws
  {
    let disk = try SmallDisk(byteCount: 2 << 20)
    let vault = try await disk.open()
    for name in ["a", "b", "c"] { try await vault.save(Sample.living(name)) }
    #expect(disk.place.scratch.names.contains("vault.sqlite.reserve"))
    try disk.fill()
    let out = SessionRecord(
      profile: try Sample.profile("a"), binding: ProviderBinding(type: "oidc"), generation: 2,
      contents: .signedOut(at: Timestamp(milliseconds: 1)))
    try await vault.save(out)
    // Until nothing is left at all: refused, and what was acknowledged is there.
    var last: UInt64 = 1
    var refusals = 0
    for generation in 2...400 as ClosedRange<UInt64> {
      do {
        try await vault.save(Sample.living("b", generation: generation, token: String(repeating: "x", count: 5_000)))
        last = generation
      } catch StoreFailure.failed { refusals += 1 }
    }
    #expect(refusals > 0)
    #expect(try await vault.load().records.map(\.generation) == [2, last, 1])
    try disk.free()
    try await vault.save(Sample.living("b", generation: 1_000))
    try await vault.save(Sample.living("c", generation: 1_000))
    let contents = try await vault.load()
    #expect(contents.records.map(\.generation) == [2, 1_000, 1_000] && contents.tampered.isEmpty)
    #expect(try await vault.check(isFull: true).filter(\.isError).isEmpty)
    #expect(disk.place.scratch.names.contains("vault.sqlite.reserve"))
    try await vault.close()
    let again = try await disk.open()
    #expect(try await again.load().records == contents.records)
    try await again.close()
  }

  @Test(.enabled(if: SmallFileSystem.canMount))
  func `the audit takes nothing of the room for sessions, and goes on when there is some`() async throws {
    let disk = try SmallDisk(byteCount: 2 << 20)
    let vault = try await disk.open()
    try await vault.save(Sample.living("a"))
    let entries = (0..<200).map { number in
      var entry = AuditEntry(.refusal, at: Timestamp(milliseconds: 1_000_000_000), outcome: "accessDenied")
      entry.client = AuditedClient(ClientIdentity(uid: number, tool: String(repeating: "x", count: 200)))
      return entry
    }
    let head = try await vault.appendAudit(entries)
    try disk.fill()
    var refusals = 0
    for _ in 0..<50 {
      do throws(StoreFailure) { _ = try await vault.appendAudit(entries) } catch { refusals += 1 }
    }
    #expect(refusals > 0)
    #expect(disk.place.scratch.names.contains("vault.sqlite.reserve"))
    try await vault.save(Sample.living("a", generation: 2))
    try disk.free()
    _ = try await vault.appendAudit(entries)
    #expect(try await vault.verifyAudit(against: head.text).isIntact)
    try await vault.close()
  }
}
