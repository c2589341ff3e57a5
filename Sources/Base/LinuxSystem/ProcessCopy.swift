import CLinux

/// A copy of this process that outlives it for a moment (fork(2)).
package enum ProcessCopy {
  /// Runs a closure in a copy without a terminal and without standard streams, which ends behind it.
  ///
  /// Only for a program with one thread: the copy has no other one. What lies in a `Secret` is not there.
  ///
  /// - Throws: what fork(2) says.
  package static func run(_ body: () -> Void) throws(Errno) {
    guard try Errno.check(clinux_fork_apart()) == 0 else { return }
    body()
    // Nothing that this process has yet to print is printed twice.
    clinux_end_at_once()
  }

  /// Runs a closure in such a copy that is no child of this process, so that it is not in the way of a program which this
  /// process becomes.
  ///
  /// - Throws: what fork(2) says.
  package static func runOrphan(_ body: () -> Void) throws(Errno) {
    guard try Errno.check(clinux_fork_orphan()) == 0 else { return }
    body()
    clinux_end_at_once()
  }
}
