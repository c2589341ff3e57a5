import LinuxSystem
import SQLiteStore
import TestSupport

/// A small file system in memory with a vault on it; taken away again at the end.
final class SmallDisk {
  /// The vault, whose anchor is on another disk.
  let place: TemporaryVault
  private let disk: SmallFileSystem

  init(byteCount: Int) throws {
    place = try TemporaryVault()
    disk = try SmallFileSystem(over: place.scratch, byteCount: byteCount)
  }

  func open() async throws -> Vault { try await place.open() }

  /// Takes all the room that is left.
  func fill() throws { try disk.fill() }

  /// Takes that room as well which the vault keeps for itself, as a quicker writer would.
  func fillUp() throws {
    try fill()
    try DirectoryEntry.remove(place.path + ".reserve")
    try fill()
  }

  func free() throws { try disk.free() }
}
