/// A program of the user's that the broker runs by itself, such as a password manager or one that sends messages.
///
/// It is executed without a shell, in a session of its own, at the root, with an environment that holds what such programs
/// need to find the user's files, display and agents, and nothing else.
package struct UserProgram: Sendable {
  /// The variables of its user's session that such a program needs.
  private static let passedVariables: Set<String> = [
    "HOME", "PATH", "LANG", "DISPLAY", "WAYLAND_DISPLAY", "GPG_TTY", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS",
  ]

  /// Its name, to be looked for in `PATH`, or its absolute path.
  package let name: String
  private let arguments: [String]
  private let environment: [String: String]

  /// Plans a run; nothing is executed yet.
  ///
  /// - Parameters:
  ///   - command: the program and its arguments; nil where there is none.
  ///   - environment: what it is chosen from that the program gets.
  package init?(_ command: [String], environment: [String: String]) {
    guard let name = command.first else { return nil }
    self.name = name
    arguments = Array(command.dropFirst())
    self.environment = environment.filter { Self.passedVariables.contains($0.key) || $0.key.hasPrefix("XDG_") }
  }

  /// Starts it.
  ///
  /// - Parameter descriptors: which descriptor here becomes which number there; all others are closed.
  /// - Returns: the child, which leads a group of its own; nil where no directory of `PATH` has such a program.
  /// - Throws: what posix_spawn(3) says; `.accessDenied` where the only ones that are there may not be executed.
  package func start(_ descriptors: [(here: Int32, there: Int32)]) throws(Errno) -> ChildProcess? {
    var plan = ChildProcess.Plan(path: name, arguments: arguments, environment: environment)
    plan.descriptors = descriptors
    plan.newSession = true
    plan.endsWithParent = true
    plan.workingDirectory = "/"
    var isDenied = false
    for path in SearchPath.candidates(name, environment) {
      plan.path = path
      do throws(Errno) {
        return try ChildProcess(plan)
      } catch {
        // As execvp(3) does it: what is not there or may not be executed is looked for in the next directory, and the
        // missing right is told where no directory has another one.
        guard [.noEntry, .accessDenied, .notDirectory].contains(error) else { throw error }
        isDenied = isDenied || error == .accessDenied
      }
    }
    if isDenied { throw .accessDenied }
    return nil
  }
}
