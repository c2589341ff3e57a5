import LinuxSystem

/// The places of a tool's configuration, and of this program.
struct SetupContext: Sendable {
  /// The environment.
  let environment: [String: String]
  /// The command line, whose options some tools look at.
  var arguments = Arguments()
  /// The home directory.
  let home: String
  /// This program's file.
  let program: String

  /// Looks around.
  ///
  /// - Throws: a failure where there is no home directory.
  init(_ context: Context) throws(CommandFailure) {
    guard let home = context.environment["HOME"], PathName.isAbsolute(home) else {
      throw CommandFailure(
        .failure, "HOME is not set to an absolute path; set it to your home directory, where tools are configured")
    }
    guard let program = ProcessIdentity.executable else {
      throw CommandFailure(.failure, "this program cannot find its own file: /proc is missing")
    }
    self.init(environment: context.environment.all, home: home, program: program)
    arguments = context.arguments
  }

  /// A place of which everything is known.
  init(environment: [String: String], home: String, program: String) {
    self.environment = environment
    self.home = PathName.absolute(home, in: "/")
    self.program = program
  }

  /// The directory for the other names of this program: beside it where this user may write there, else `~/.local/bin`.
  var linkDirectory: String {
    let own = PathName.directory(of: program)
    let status = try? FileStatus.following(own)
    let isOwn = status?.owner == ProcessIdentity.user && (status?.permissions ?? 0) & 0o200 != 0
    return isOwn ? own : home + "/.local/bin"
  }

  /// A directory for names that take the place of another program's, for those who put it on their `PATH`.
  var shimDirectory: String { data("shims") }

  /// Something below this program's directory of the user's data (XDG Base Directory Specification).
  private func data(_ name: String) -> String {
    let base = environment["XDG_DATA_HOME"].flatMap { PathName.isAbsolute($0) ? $0 : nil } ?? home + "/.local/share"
    return "\(base)/authbroker/\(name)"
  }

  /// The path that a variable holds, else one below the home directory.
  func file(_ variable: String, orElse path: String) -> String {
    let chosen = environment[variable].flatMap { PathName.isAbsolute($0) ? $0 : nil }
    return chosen ?? "\(home)/\(path)"
  }

  /// The path of one of this program's names where a tool's configuration can hold it.
  func path(of name: String) -> String {
    let own = "\(linkDirectory)/\(name)"
    guard !leadsHere(own), let found = SearchPath.program(name, environment), leadsHere(found) else { return own }
    return found
  }

  /// Whether a path leads to this program.
  func leadsHere(_ path: String) -> Bool {
    guard let own = try? FileStatus.following(program), let other = try? FileStatus.following(path) else {
      return false
    }
    return own.identity == other.identity
  }

  /// Whether programs of a directory are found by their names.
  func isOnPath(_ directory: String) -> Bool {
    guard let own = try? FileStatus.following(directory) else { return false }
    return SearchPath.directories(environment).contains {
      (try? FileStatus.following($0))?.identity == own.identity
    }
  }
}
