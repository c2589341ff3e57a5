import CLinux

/// A file (0600 unless said otherwise) that is written under another name beside its place, so that a reader sees all of it or nothing.
///
/// It is removed when the value ends, unless it was put into its place.
@usableFromInline
package struct PendingFile: ~Copyable {
  /// The temporary path.
  @usableFromInline package let temporaryPath: String
  /// The identity of the file, which stays when it is renamed.
  package let identity: FileStatus.Identity
  private let path: String

  /// Writes a file, and waits until it has reached the disk (fsync(2)).
  ///
  /// - Parameters:
  ///   - path: its place, absolute, in a directory that is there.
  ///   - bytes: all of it.
  ///   - permissions: those that it gets; nil: 0600.
  ///   - mark: the end of its name meanwhile; nil: a random one, at whose place no other process can have put anything.
  /// - Throws: what open(2), write(2) or fsync(2) says; nothing is left behind then.
  package init(
    _ path: String, _ bytes: Span<UInt8>, permissions: UInt32? = nil, mark: String? = nil
  ) throws(Errno) {
    self.path = path
    temporaryPath = Self.temporaryPath(of: path, mark: mark ?? Self.randomMark)
    let file = try FileDescriptor.open(temporaryPath, [.write, .create, .exclusive, .noFollow])
    do throws(Errno) {
      if let permissions { try file.setPermissions(permissions) }
      try file.writeAll(bytes)
      try file.synchronize()
      identity = try file.status().identity
    } catch {
      // The string is NUL-terminated for the length of the call, which does not keep it.
      _ = unsafe clinux_unlink(temporaryPath)
      throw error
    }
  }

  /// A random mark; the number of this process and the time where the kernel has no random numbers.
  private static var randomMark: String {
    (try? KernelRandom.name()) ?? "\(ProcessIdentity.pid)-\(BootClock.nanoseconds)"
  }

  /// The temporary path of a file with a mark; a process that is killed before the rename leaves the file there.
  package static func temporaryPath(of path: String, mark: String) -> String {
    let name = path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? ""
    return "\(PathName.directory(of: path))/.\(name).\(mark)"
  }

  @inlinable
  deinit { PendingFile.remove(temporaryPath) }

  /// Removes the temporary file; after the rename there is none.
  @usableFromInline
  static func remove(_ path: String) {
    // The string is NUL-terminated for the length of the call, which does not keep it.
    _ = unsafe clinux_unlink(path)
  }

  /// Puts it into its place.
  ///
  /// - Parameter replaces: whether it takes the place of a file that is there.
  /// - Throws: `EEXIST` where there is a file that it must not replace; what rename(2), link(2) or fsync(2) says.
  package consuming func put(replacing replaces: Bool) throws(Errno) {
    // The strings are NUL-terminated for the length of the call, which does not keep them.
    let result = unsafe replaces ? clinux_rename(temporaryPath, path) : clinux_link(temporaryPath, path)
    _ = try Errno.check(result)
    let directory = try FileDescriptor.open(PathName.directory(of: path), [.read, .directory])
    try? directory.synchronize()
  }
}
