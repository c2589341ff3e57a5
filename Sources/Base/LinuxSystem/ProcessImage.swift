import CLinux

/// Becoming another program, and ending.
package enum ProcessImage {
  /// Executes another program in this process, which keeps its id, terminal and open standard streams (execve(2)).
  ///
  /// - Parameters:
  ///   - path: the file; no search path is looked through.
  ///   - arguments: what follows the program's name.
  ///   - environment: the whole environment.
  /// - Returns: never, where it succeeds.
  /// - Throws: what execve(2) says, `ENOENT` if there is no such file.
  package static func replace(
    path: String, arguments: [String], environment: [String: String]
  ) throws(Errno) -> Never {
    let variables = environment.map { "\($0.key)=\($0.value)" }
    // Both lists are NULL-terminated and live until execve has copied them.
    let code = unsafe ChildProcess.withStrings([path] + arguments) { arguments in
      // As above.
      unsafe ChildProcess.withStrings(variables) { variables in
        ProcessHardening.withInheritedLimits {
          // As above; the path is NUL-terminated for the length of the call.
          unsafe -clinux_result(execve(path, arguments, variables))
        }
      }
    }
    throw Errno(code: code)
  }

  /// Makes this process the leader of a group of its own (setpgid(2)): a signal can be sent to it and to all that it starts.
  ///
  /// - Throws: `EPERM` where it leads a session, and so a group, already.
  package static func leadGroup() throws(Errno) { _ = try Errno.check(clinux_new_group()) }

  /// Gives this process a session keyring of its own, without a key: keyrings are inherited, whatever namespaces a process is in
  /// (session-keyring(7)).
  ///
  /// - Throws: `ENOSYS` on a kernel without keyrings, `EPERM` where a filter refuses the call.
  package static func leaveKeyring() throws(Errno) { _ = try Errno.check(clinux_new_session_keyring()) }

  /// Ends this process by a signal, as if it had no handler: a shell that runs a script then ends as well.
  ///
  /// Where the signal is ignored, the exit code says what a shell would.
  package static func end(by signal: Signal) -> Never {
    try? Signal.unblock([signal])
    try? signal.send(to: ProcessIdentity.pid)
    end(128 + signal.number)
  }

  /// Ends this process with an exit code, standard output flushed.
  package static func end(_ code: Int32) -> Never { exit(code) }
}
