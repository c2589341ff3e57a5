/// A helper that another tool runs: it speaks that tool's own protocol, and prints nothing else on standard output.
///
/// Its name is `helper` and the tool's. Some tools find a helper by the name of its program alone, so the program may be
/// called by other names as well (symbolic links to `authbroker`).
protocol ToolHelper: Command {
  /// The names that the program may be called by, such as `git-credential-authbroker`, the usual one first.
  static var programNames: [String] { get }
  /// The setup of its tool; nil where there is nothing to set up.
  static var setup: ToolSetup? { get }
}

extension ToolHelper {
  /// The tool's own.
  static var speaksProtocol: Bool { true }

  /// None: most tools are told the whole command line.
  static var programNames: [String] { [] }

  /// None: a tool is set up by those who use it.
  static var setup: ToolSetup? { nil }
}
