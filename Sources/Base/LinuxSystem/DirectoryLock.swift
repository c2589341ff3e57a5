import CLinux

/// An exclusive lock on a directory (flock(2)), held until the value ends: it needs no file, and leaves none behind.
///
/// Only those who ask for it keep to it.
package struct DirectoryLock: ~Copyable {
  private let descriptor: FileDescriptor
  /// How long a waiting caller sleeps between two tries: flock(2) itself knows no time limit.
  private static let pause: Int64 = 5_000_000

  /// Locks a directory.
  ///
  /// - Parameters:
  ///   - path: of the directory.
  ///   - limit: how long to wait for another holder.
  /// - Throws: `EAGAIN` if another process has it after the limit; what open(2) or flock(2) says, such as on a file
  ///   system without locks.
  package init(_ path: String, waitingAtMost limit: Duration) throws(Errno) {
    let descriptor = try FileDescriptor.open(path, [.read, .directory])
    let deadline = BootClock.nanoseconds &+ limit.wholeNanoseconds
    while true {
      let result = clinux_lock(descriptor.number)
      if result >= 0 { break }
      let error = Errno(code: -result)
      guard error == .again, BootClock.nanoseconds < deadline else { throw error }
      clinux_sleep(Self.pause)
    }
    self.descriptor = descriptor
  }

  /// Gives the lock up.
  package consuming func release() {}
}
