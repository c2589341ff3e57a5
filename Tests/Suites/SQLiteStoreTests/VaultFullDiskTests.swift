import BrokerCore
import BrokerProtocol
import Glibc
import LinuxSystem
import Records
import SQLiteStore
import Sealing
import SecretMemory
import TestSupport
import Testing

/// A disk without room, as a small file system in memory.
///
/// Needs the right to mount one: where there is none, these tests do not run.
@Suite(.standardTimeLimit, .serialized) struct VaultFullDiskTests {
  /// A file system of one megabyte with a vault on it; taken away again at the end.
  private final class SmallDisk {
    let scratch = Scratch()
    var path: String { scratch.file("vault.sqlite") }
    private(set) var isMounted = false

    init(byteCount: Int) throws {
      try Sealing.initialize()
      isMounted = mount("tmpfs", scratch.path, "tmpfs", 0, "size=\(byteCount),mode=0700") == 0
    }

    deinit { if isMounted { umount2(scratch.path, Int32(MNT_DETACH)) } }

    func open() async throws -> Vault {
      let vault = try await Vault.open(
        path: path, settings: KeySourceSettings(keyFilePath: scratch.file("vault.key")))
      try await vault.unlock(nil)
      return vault
    }

    /// Takes all the room that is left.
    func fill() throws {
      let file = try FileDescriptor.open(scratch.file("filler"), [.write, .create])
      let block = [UInt8](repeating: 1, count: 4096)
      while true {
        do { try file.writeAll(block.span) } catch { return }
      }
    }

    func free() throws { try DirectoryEntry.remove(scratch.file("filler")) }
  }

  private static var canMount: Bool {
    guard let disk = try? SmallDisk(byteCount: 1 << 20) else { return false }
    return disk.isMounted
  }

  @Test(.enabled(if: canMount)) func `a logout works on a full disk, and later changes after room was made`()
    async throws
  {
    let disk = try SmallDisk(byteCount: 2 << 20)
    let vault = try await disk.open()
    for name in ["a", "b", "c"] { try await vault.save(Sample.living(name)) }
    #expect(disk.scratch.names.contains("vault.sqlite.reserve"))
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
    #expect(disk.scratch.names.contains("vault.sqlite.reserve"))
    try await vault.close()
    let again = try await disk.open()
    #expect(try await again.load().records == contents.records)
    try await again.close()
  }
}
