import LinuxSystem

/// A program that a person named, found as a shell finds it (sh(1), execvp(3)).
struct NamedProgram: Equatable, Sendable {
  /// The interpreter of a script without a first line that names one (execvp(3)).
  private static let shell = "/bin/sh"

  /// The name as it was given, which the program gets as its own.
  let name: String
  /// Its file.
  let path: String

  /// Finds it: a name with a slash is a path, any other one is looked for in the absolute directories of `PATH`.
  ///
  /// - Throws: a failure with code 127 where there is none, with 126 where there is one that cannot be executed.
  init(_ name: String, _ environment: [String: String]) throws(CommandFailure) {
    self.name = name
    guard !name.isEmpty else { throw Self.missing(name) }
    if name.contains("/") {
      let path = PathName.absolute(name, in: ProcessIdentity.workingDirectory)
      guard let status = try? FileStatus.following(path) else { throw Self.missing(name) }
      guard status.isProgram else { throw Self.refused(name, .accessDenied) }
      self.path = path
      return
    }
    guard let path = SearchPath.program(name, environment, where: { $0.isProgram }) else {
      let isThere = SearchPath.program(name, environment) != nil
      throw isThere ? Self.refused(name, .accessDenied) : Self.missing(name)
    }
    self.path = path
  }

  /// Becomes the program.
  ///
  /// - Parameters:
  ///   - arguments: what follows its name.
  ///   - variables: `NAME=value`, beside this process's own environment.
  /// - Throws: a failure with code 126 or 127, as sh(1).
  func execute(_ arguments: [String], adding variables: [[UInt8]]) throws(CommandFailure) -> Never {
    let error: Errno
    do throws(Errno) {
      try ProcessImage.replace(path: path, arguments: arguments, name: name, adding: variables)
    } catch let refusal { error = refusal }
    guard error == .noExecutableFormat else { throw error == .noEntry ? Self.missing(name) : Self.refused(name, error) }
    do throws(Errno) {
      try ProcessImage.replace(path: Self.shell, arguments: [path] + arguments, name: Self.shell, adding: variables)
    } catch { throw Self.refused(name, error) }
  }

  private static func missing(_ name: String) -> CommandFailure {
    CommandFailure(.programNotFound, "\(name.shellQuoted): no such program; name one on the PATH, or give its path")
  }

  private static func refused(_ name: String, _ error: Errno) -> CommandFailure {
    CommandFailure(.programNotExecutable, "\(name.shellQuoted) cannot be executed: \(error)")
  }
}
