import CLinux
import Synchronization

/// The hardening of a process that holds secrets, done before anything else.
package enum ProcessHardening {
  /// Gives every standard descriptor that was closed by the caller (`2>&-`) a file behind it, before anything is opened:
  /// else a lock or a socket would take its number, and be printed to.
  ///
  /// - Throws: what open(2) says of `/dev/null`.
  package static func fillStandardDescriptors() throws(Errno) {
    _ = try Errno.check(clinux_fill_standard_descriptors())
  }

  /// Forbids core files, tracing by other processes of the same user, and gaining rights by executing a program.
  ///
  /// With `PR_SET_DUMPABLE` 0 everything under `/proc/<pid>` belongs to root (proc(5)) and ptrace(2) is refused.
  ///
  /// - Throws: what prctl(2) or setrlimit(2) says; a process that needs this must not go on then.
  package static func forbidInspection() throws(Errno) {
    _ = try Errno.check(clinux_forbid_dumps())
  }

  /// The limit of core files that this process was started with, where ``forbidInspectionHere()`` has lowered it.
  private static let coreLimit = Atomic<UInt64>(0)
  /// Whether it was lowered; written after the limit.
  private static let hasLoweredCoreLimit = Atomic(false)

  /// Forbids core files and tracing by other processes of the same user, for this program and not for those that it
  /// executes: a password manager is debugged, and gains rights, as if a shell had started it.
  ///
  /// - Throws: what prctl(2) or setrlimit(2) says; a process that needs this must not go on then.
  package static func forbidInspectionHere() throws(Errno) {
    var core: UInt64 = 0
    // The number is written before the call returns.
    _ = try Errno.check(unsafe clinux_forbid_dumps_here(&core))
    guard !hasLoweredCoreLimit.load(ordering: .acquiring) else { return }
    coreLimit.store(core, ordering: .relaxed)
    hasLoweredCoreLimit.store(true, ordering: .releasing)
  }

  /// Executes or starts another program with the limit of core files that this process was started with.
  static func withInheritedLimits<Result>(_ start: () -> Result) -> Result {
    guard hasLoweredCoreLimit.load(ordering: .acquiring) else { return start() }
    let core = coreLimit.load(ordering: .relaxed)
    // This process is not dumpable, so that no core file comes of it meanwhile.
    _ = clinux_limit_core(core)
    defer { _ = clinux_limit_core(0) }
    return start()
  }

  /// Makes failed writes return errors instead of killing: `SIGPIPE` for a reader that went, `SIGXFSZ` for a file that
  /// reached its limit.
  package static func ignoreWriteSignals() throws(Errno) {
    _ = try Errno.check(clinux_signals_ignore(SIGPIPE))
    _ = try Errno.check(clinux_signals_ignore(SIGXFSZ))
  }

  /// Raises the number of descriptors to the hard limit.
  ///
  /// - Returns: how many this process may have open.
  package static func raiseDescriptorLimit() throws(Errno) -> Int {
    let result = clinux_raise_descriptor_limit()
    guard result >= 0 else { throw Errno(code: Int32(-result)) }
    return Int(result)
  }
}
