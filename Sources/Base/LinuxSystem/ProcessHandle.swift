import CLinux

/// One process, and no other one that gets its number later (pidfd_open(2)).
package final class ProcessHandle: Sendable {
  /// Its number, for words.
  package let pid: Int32
  private let descriptor: FileDescriptor

  /// Opens a process.
  ///
  /// - Parameters:
  ///   - pid: its number.
  ///   - startTime: when it was started, as ``ProcessIdentity/startTime(of:)`` says; nil where the caller looks at the
  ///     process again after this.
  /// - Throws: `ESRCH` where there is none, or another one has the number by now; `ENOSYS` on a kernel before 5.3.
  package init(_ pid: Int32, startedAt startTime: UInt64? = nil) throws(Errno) {
    self.pid = pid
    descriptor = FileDescriptor(owning: try Errno.check(clinux_pidfd(pid)))
    // Behind the opening: from here on the number is this process's for as long as it is not gone.
    guard startTime == nil || ProcessIdentity.startTime(of: pid) == startTime else { throw .noProcess }
  }

  /// Sends a signal to it (pidfd_send_signal(2)).
  ///
  /// - Throws: `ESRCH` where it has ended, `EPERM` where it is another user's.
  package func send(_ signal: Signal) throws(Errno) {
    _ = try Errno.check(clinux_pidfd_signal(descriptor.number, signal.number))
  }
}
