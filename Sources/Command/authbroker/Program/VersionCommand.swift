import BrokerProtocol
import StateDirectory

/// `authbroker version`.
enum VersionCommand: Command {
  static let name = "version"
  /// How the help explains it.
  static let description = CommandDescription(
    name: name,
    summary: "Print the version of this program",
    examples: ["authbroker version", "authbroker -V"])

  /// Prints the version.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    guard context.wantsJSON else { return Output.line("authbroker \(ProgramVersion.current)") }
    context.printJSON([("version", ProgramVersion.current), ("protocolVersion", Initialize.protocolVersion)])
  }
}
