import Glibc
import LinuxSystem
import TestSupport

/// A small file system in memory (tmpfs(5)) that can be filled up.
final class SmallDisk {
  let path: String
  private let sandbox: Sandbox
  private var ballast: String { path + "/ballast" }

  /// Whether a file system can be mounted here, which takes the rights of root.
  static let isAvailable: Bool = {
    guard geteuid() == 0 else { return false }
    let scratch = Scratch()
    let path = scratch.path
    defer { withExtendedLifetime(scratch) {} }
    guard mount("tmpfs", path, "tmpfs", 0, "size=64k") == 0 else { return false }
    return umount2(path, 0) == 0
  }()

  /// Mounts a new file system at a directory, which is made, and is its owner's alone.
  init(_ sandbox: Sandbox, at path: String, kilobytes: Int) throws {
    self.sandbox = sandbox
    self.path = path
    mkdir(path, 0o700)
    guard mount("tmpfs", path, "tmpfs", 0, "size=\(kilobytes)k,mode=0700") == 0 else { throw Errno(code: errno) }
  }

  deinit { umount2(path, Int32(MNT_DETACH)) }

  /// Takes up all the room that is left.
  func fill() throws {
    let file = try FileDescriptor.open(ballast, [.write, .create, .append])
    let block = [UInt8](repeating: 0x5A, count: 4096)
    while true {
      switch file.write(block.span) {
      case .bytes(block.count): continue
      case .bytes, .failed(Errno(code: ENOSPC)): return
      case .failed(let error): throw error
      case .wouldBlock, .endOfStream: throw TestFailure("the ballast cannot be written")
      }
    }
  }

  /// Gives a few pages back, for whoever writes next.
  func release(pages: Int) throws {
    let file = try FileDescriptor.open(ballast, .write)
    let size = try file.status().size
    try file.truncate(to: max(0, size - Int64(pages) * 4096))
  }

  /// Gives all the room back.
  func empty() { unlink(ballast) }

  /// Lets nobody write, or again.
  func setReadOnly(_ isReadOnly: Bool) throws {
    let flags = UInt(MS_REMOUNT) | (isReadOnly ? UInt(MS_RDONLY) : 0)
    guard mount("tmpfs", path, "tmpfs", flags, nil) == 0 else { throw Errno(code: errno) }
  }
}
