import LinuxSystem

/// Finds other programs as execvp(3) does, but in absolute directories only: what happens to lie in the working
/// directory is not meant.
enum SearchPath {
  /// The file of a program.
  ///
  /// - Parameters:
  ///   - name: its name, or an absolute path, which is not looked at.
  ///   - environment: whose `PATH` counts.
  /// - Returns: an absolute path; nil where there is none.
  static func program(_ name: String, _ environment: [String: String]) -> String? {
    guard !name.contains("/") else { return name.hasPrefix("/") ? name : nil }
    let directories = (environment["PATH"] ?? "").split(separator: ":").filter { $0.hasPrefix("/") }
    return directories.lazy.map { "\($0)/\(name)" }.first { (try? FileStatus.following($0)) != nil }
  }
}
