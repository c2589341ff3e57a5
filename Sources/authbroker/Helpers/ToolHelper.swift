/// A helper that another tool runs: it speaks that tool's own protocol, and prints nothing else on standard output.
///
/// Its name is `helper` and the tool's. Some tools find a helper by the name of its program alone, so the program may be
/// called by other names as well (symbolic links to `authbroker`).
protocol ToolHelper: Command {
  /// The names that the program may be called by, such as `git-credential-authbroker`.
  static var programNames: [String] { get }
}

extension ToolHelper {
  static var programNames: [String] { [] }
}
