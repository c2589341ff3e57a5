import CLinux

/// The limits of this machine for a process.
package enum MachineLimits {
  /// How many bytes can still be written to the file system that a path lies in (statfs(2)).
  ///
  /// - Throws: what statfs(2) says, `ENOENT` if there is no such path.
  package static func freeSpace(at path: String) throws(Errno) -> Int64 {
    // The string is NUL-terminated for the length of the call, which does not keep it.
    let count = unsafe clinux_free_space(path)
    guard count >= 0 else { throw Errno(code: Int32(-count)) }
    return count
  }

  /// Whether a path lies in a file system that is mounted read-only (statvfs(3)); false where the kernel does not say.
  package static func isReadOnly(at path: String) -> Bool {
    // The string is NUL-terminated for the length of the call, which does not keep it.
    unsafe clinux_is_read_only(path) != 0
  }

  /// Whether the kernel can keep memory out of core files and forked children (madvise(2)).
  package static var canHideMemory: Bool { clinux_can_hide_memory() == 1 }

  /// How many bytes a process that is started from here may keep from being swapped out (RLIMIT_MEMLOCK, getrlimit(2)).
  ///
  /// `Int64.max` where there is no limit; nil where the kernel does not say.
  package static var lockedMemory: Int64? {
    let count = clinux_memory_lock_limit()
    return count >= 0 ? count : nil
  }
}
