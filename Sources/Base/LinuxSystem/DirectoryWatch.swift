import CLinux

/// Tells when something may have gone from some directories, or one of these itself, as a descriptor (inotify(7)).
package struct DirectoryWatch: ~Copyable {
  /// Readable once something has gone.
  package let descriptor: FileDescriptor

  /// Watches a directory from now on.
  ///
  /// - Throws: `EMFILE` where the user has too many of these, `ENOSPC` and the like; `ENOSYS` in a sandbox without them.
  package init(_ path: String) throws(Errno) {
    // The string is NUL-terminated for the length of the call, which does not keep it.
    descriptor = FileDescriptor(owning: try Errno.check(unsafe clinux_watch_directory(path)))
  }

  /// Watches another directory as well: a user may have few of these, and each of them any number of directories.
  ///
  /// - Throws: as ``init(_:)``.
  package func add(_ path: String) throws(Errno) {
    // The string is NUL-terminated for the length of the call, which does not keep it.
    _ = try Errno.check(unsafe clinux_watch_also(descriptor.number, path))
  }

  /// Reads the pending notifications.
  ///
  /// - Returns: false if it is of no more use.
  package func drain() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      switch descriptor.read(into: &buffer) {
      case .bytes: continue
      case .wouldBlock: return true
      case .endOfStream, .failed: return false
      }
    }
  }
}
