import BrokerProtocol
import StateDirectory

/// `authbroker version`.
enum VersionCommand: Command {
  static let name = "version"
  static let about = CommandDescription(
    summary: "Print the version of this program",
    examples: ["authbroker version", "authbroker -V"])

  /// Prints the version.
  static func run(_ context: Context) throws(CommandFailure) {
    guard context.wantsJSON else { return Output.line("authbroker \(ProgramVersion.current)") }
    context.printJSON([("version", ProgramVersion.current), ("protocolVersion", Initialize.protocolVersion)])
  }
}
