/// Finds other programs as execvp(3) does, but in absolute directories only: a program in the working directory is not
/// meant.
package enum SearchPath {
  /// The directories of programs when `PATH` is not set.
  private static let standard = "/usr/local/bin:/usr/bin:/bin"

  /// The absolute directories of an environment's `PATH`, in their order; without one, those that every system has.
  package static func directories(_ environment: [String: String]) -> [String] {
    (environment["PATH"] ?? standard).split(separator: ":").filter { PathName.isAbsolute($0) }.map(String.init)
  }

  /// The paths that a program may have, in the order in which they are tried; nothing is looked at.
  ///
  /// - Parameters:
  ///   - name: its name, or an absolute path, which is the only one then; any other name with a slash has none.
  ///   - environment: whose `PATH` counts.
  /// - Returns: absolute paths.
  package static func candidates(_ name: String, _ environment: [String: String]) -> [String] {
    guard !name.utf8.contains(UInt8(ascii: "/")) else { return PathName.isAbsolute(name) ? [name] : [] }
    return directories(environment).map { "\($0)/\(name)" }
  }

  /// The file of a program.
  ///
  /// - Parameters:
  ///   - name: its name, or an absolute path, which is not looked at.
  ///   - environment: whose `PATH` counts.
  ///   - isWanted: which of those that are there is meant.
  /// - Returns: an absolute path; nil where there is none.
  package static func program(
    _ name: String, _ environment: [String: String], where isWanted: (FileStatus) -> Bool = { _ in true }
  ) -> String? {
    guard !name.utf8.contains(UInt8(ascii: "/")) else { return PathName.isAbsolute(name) ? name : nil }
    return candidates(name, environment).first { (try? FileStatus.following($0)).map(isWanted) ?? false }
  }
}

extension FileStatus {
  /// Whether it is a file that execve(2) may take: a regular one with a right to be executed.
  package var isProgram: Bool { kind == .regular && permissions & 0o111 != 0 }
}
