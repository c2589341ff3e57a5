import Glibc
import LinuxSystem

/// A small file system in memory (tmpfs(5)) over a directory, which can be filled up; it is unmounted with the last
/// reference.
package final class SmallFileSystem: Sendable {
  /// It is removed once nothing is mounted over it.
  private let scratch: Scratch

  /// Whether one can be mounted here, which takes the rights of root.
  package static var canMount: Bool { (try? SmallFileSystem(over: Scratch(), byteCount: 1 << 20)) != nil }

  /// Mounts one over a directory.
  package init(over scratch: Scratch, byteCount: Int) throws {
    self.scratch = scratch
    guard mount("tmpfs", scratch.path, "tmpfs", 0, "size=\(byteCount),mode=0700") == 0 else {
      throw Errno(code: errno)
    }
  }

  deinit { umount2(scratch.path, Int32(MNT_DETACH)) }

  private var filler: String { scratch.file("filler") }

  /// Takes all the room that is left.
  package func fill() throws {
    let file = try FileDescriptor.open(filler, [.write, .create, .append])
    let block = [UInt8](repeating: 1, count: 4096)
    while true {
      do { try file.writeAll(block.span) } catch { return }
    }
  }

  /// Gives it back.
  package func free() throws { try DirectoryEntry.remove(filler) }
}
