import Glibc
import LinuxSystem
import SQLiteStore
import TestSupport

/// A small file system in memory with a vault on it; taken away again at the end.
final class SmallDisk {
  /// The vault, whose anchor is on another disk.
  let place: TemporaryVault
  private(set) var isMounted = false

  /// Whether one can be mounted here.
  static var canMount: Bool {
    guard let disk = try? SmallDisk(byteCount: 1 << 20) else { return false }
    return disk.isMounted
  }

  init(byteCount: Int) throws {
    place = try TemporaryVault()
    isMounted = mount("tmpfs", place.directory, "tmpfs", 0, "size=\(byteCount),mode=0700") == 0
  }

  deinit { if isMounted { umount2(place.directory, Int32(MNT_DETACH)) } }

  func open() async throws -> Vault { try await place.open() }

  /// Takes all the room that is left.
  func fill() throws {
    let file = try FileDescriptor.open(place.scratch.file("filler"), [.write, .create, .append])
    let block = [UInt8](repeating: 1, count: 4096)
    while true {
      do { try file.writeAll(block.span) } catch { return }
    }
  }

  /// Takes that room as well which the vault keeps for itself, as a quicker writer would.
  func fillUp() throws {
    try fill()
    try DirectoryEntry.remove(place.path + ".reserve")
    try fill()
  }

  func free() throws { try DirectoryEntry.remove(place.scratch.file("filler")) }
}
