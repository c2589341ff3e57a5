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

  /// Holds the process at the other end of a connected Unix socket (unix(7), `SO_PEERPIDFD`).
  ///
  /// - Parameters:
  ///   - descriptor: the socket.
  ///   - pid: its peer's number, as `SO_PEERCRED` names it.
  /// - Throws: `ENOPROTOOPT` on a kernel before 6.5; `ESRCH`, or another one, where the process has ended.
  package init(peerOf descriptor: borrowing FileDescriptor, _ pid: Int32) throws(Errno) {
    self.pid = pid
    self.descriptor = FileDescriptor(owning: try Errno.check(clinux_peer_pidfd(descriptor.number)))
  }

  /// Whether the process has not gone, so that its number is no other's; another user's may not be signalled.
  package var exists: Bool {
    // Which costs less, where the kernel can.
    guard group == nil else { return true }
    let result = clinux_pidfd_signal(descriptor.number, 0)
    return result >= 0 || -result == EPERM
  }

  /// The number of the control group of version 2 that it is in: one that has gone is in none, and on a kernel before 6.13
  /// it is not known.
  package var group: UInt64? {
    let group = clinux_pidfd_group(descriptor.number)
    return group.error == 0 ? group.number : nil
  }
}
