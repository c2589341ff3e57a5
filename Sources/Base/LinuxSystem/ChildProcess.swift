import CLinux
import Synchronization

/// A program that this process started (posix_spawn(3): no code of ours runs between fork and exec).
package struct ChildProcess: Sendable {
  /// Its process id; its own until `wait` has told of its end.
  package let pid: Int32
  /// The process groups that end with this process and have not been waited for.
  private static let groups = Mutex<Set<Int32>>([])

  /// The program, arguments and environment of a child.
  package struct Plan: Sendable {
    /// The file to execute; no search path is looked through.
    package var path: String
    /// The arguments after the program's name.
    package var arguments: [String]
    /// The whole environment.
    package var environment: [String: String]
    /// The descriptors for the child: each of this process, with its number there.
    ///
    /// All others are closed in the child. At most 8.
    package var descriptors: [(here: Int32, there: Int32)] = []
    /// Makes it the leader of a new session, without a terminal.
    package var newSession = false
    /// Whether ``ChildProcess/endGroups()`` ends it, where it leads a session.
    package var endsWithParent = false
    /// The directory in which it starts; nil for this process's.
    package var workingDirectory: String?

    /// Plans a program with no descriptor at all.
    package init(path: String, arguments: [String], environment: [String: String]) {
      self.path = path
      self.arguments = arguments
      self.environment = environment
    }
  }

  /// Starts a program with an empty signal mask.
  ///
  /// - Throws: what posix_spawn(3) says, `ENOENT` if there is no such file.
  package init(_ plan: Plan) throws(Errno) {
    let map = plan.descriptors.flatMap { [$0.here, $0.there] }
    let environment = plan.environment.map { "\($0.key)=\($0.value)" }
    // Both lists live until the closure returns; posix_spawn does not keep them.
    let result = unsafe ChildProcess.withStrings([plan.path] + plan.arguments) { arguments in
      // As above.
      unsafe ChildProcess.withStrings(environment) { environment in
        ProcessHardening.withInheritedLimits {
          // `map` holds as many pairs as is said, and the strings are NUL-terminated.
          unsafe clinux_spawn(
            plan.path, arguments, environment, map, map.count / 2, plan.newSession ? 1 : 0, plan.workingDirectory)
        }
      }
    }
    let pid = try Errno.check(result)
    self.pid = pid
    if plan.newSession, plan.endsWithParent { Self.groups.withLock { _ = $0.insert(pid) } }
  }

  /// Ends at once the children that end with this process, with everything that stayed in their groups: a program that
  /// hangs must not outlive it.
  package static func endGroups() {
    // Each has its number until it is waited for, which comes behind its removal.
    groups.withLock { groups in
      for pid in groups { _ = clinux_kill_group(pid) }
      groups = []
    }
  }

  /// The state of a child.
  package enum State: Equatable, Sendable {
    /// Not ended yet.
    case running
    /// Ended with a code, or 128 and the number of the signal that ended it.
    case exited(Int32)
  }

  /// Waits for the end and takes the exit code, once.
  ///
  /// - Throws: `ECHILD` if it has been taken already.
  @discardableResult
  package func wait() throws(Errno) -> Int32 {
    Self.groups.withLock { _ = $0.remove(pid) }
    let end = clinux_wait(pid, 1)
    guard end.error == 0 else { throw Errno(code: end.error) }
    return end.code
  }

  /// Looks without waiting.
  package func poll() throws(Errno) -> State {
    Self.groups.withLock { _ = $0.remove(pid) }
    let end = clinux_wait(pid, 0)
    guard end.error == 0 else { throw Errno(code: end.error) }
    return end.pid == 0 ? .running : .exited(end.code)
  }

  /// A descriptor that becomes readable when the child has ended (pidfd_open(2)): for waiting with a time limit.
  ///
  /// - Throws: `ENOSYS` on a kernel before 5.3, `ESRCH` once `wait` has told of its end.
  package func endDescriptor() throws(Errno) -> FileDescriptor {
    FileDescriptor(owning: try Errno.check(clinux_pidfd(pid)))
  }

  /// Ends it and everything that it started and that stayed in its group, at once (SIGKILL).
  ///
  /// Only for a child that was planned with `newSession`, and before `wait`: until then no other process has its number.
  package func killGroup() {
    // The group is there as long as the child has not been waited for; one that has ended feels nothing.
    _ = clinux_kill_group(pid)
  }

  /// Lends a NULL-terminated list of C strings.
  static func withStrings<R>(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
  ) -> R {
    // Each copy is freed below, after the body.
    var list = unsafe strings.map { unsafe strdup($0) }
    // The list's end.
    unsafe list.append(nil)
    defer {
      // Made by strdup above; free(NULL) does nothing.
      for index in unsafe list.indices { unsafe free(list[index]) }
    }
    // The buffer is not empty, so it has an address; it is lent for the closure only.
    return unsafe list.withUnsafeBufferPointer { unsafe body($0.baseAddress.unsafelyUnwrapped) }
  }
}
