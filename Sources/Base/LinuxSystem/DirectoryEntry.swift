import CLinux

/// The names of files: giving a finished file its name, and taking names away.
package enum DirectoryEntry {
  /// Gives a file a second name in the same file system (link(2)); a name that is taken is never replaced.
  ///
  /// - Throws: `Errno.exists` if the name is taken, else what link(2) says.
  package static func add(_ name: String, for existing: String) throws(Errno) {
    // Both strings are NUL-terminated for the length of the call, which does not keep them.
    _ = try Errno.check(unsafe clinux_result(link(existing, name)))
  }

  /// Takes a file's name away (unlink(2)).
  ///
  /// - Throws: what unlink(2) says.
  package static func remove(_ name: String) throws(Errno) {
    // The string is NUL-terminated for the length of the call, which does not keep it.
    _ = try Errno.check(unsafe clinux_unlink(name))
  }

  /// Removes an empty directory (rmdir(2)).
  ///
  /// - Throws: what rmdir(2) says.
  package static func removeDirectory(_ path: String) throws(Errno) {
    // The string is NUL-terminated for the length of the call, which does not keep it.
    _ = try Errno.check(unsafe clinux_result(rmdir(path)))
  }

  /// Gives a file another name, which may replace another file (rename(2)).
  ///
  /// - Throws: what rename(2) says.
  package static func rename(_ old: String, to new: String) throws(Errno) {
    // Both strings are NUL-terminated for the length of the call, which does not keep them.
    _ = try Errno.check(unsafe clinux_rename(old, new))
  }

  /// Refuses a directory in which this process can make no entry: by its mode, or on a disk that is read-only.
  ///
  /// - Throws: what access(2) says.
  package static func expectWritable(_ path: String) throws(Errno) {
    // The string is NUL-terminated for the length of the call, which does not keep it.
    _ = try Errno.check(unsafe clinux_result(access(path, W_OK | X_OK)))
  }

  /// Makes a directory of this user alone (0700) and what is missing above it; one that is there is no error.
  ///
  /// - Parameter path: absolute.
  /// - Throws: what mkdir(2) says.
  package static func makeDirectories(_ path: String) throws(Errno) {
    for directory in PrivateDirectory.parents(of: path) + [path] where directory != "/" {
      // The string is NUL-terminated for the length of the call, which does not keep it.
      let result = unsafe clinux_mkdir(directory)
      guard result < 0, (try? FileStatus.following(directory))?.kind != .directory else { continue }
      throw Errno(code: -result)
    }
  }
}
