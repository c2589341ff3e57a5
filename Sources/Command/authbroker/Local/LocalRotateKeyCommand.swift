import BrokerProtocol
import StateDirectory

/// `authbroker local rotate-key`.
enum LocalRotateKeyCommand: Command {
  static let name = "local rotate-key"
  /// How the help explains it.
  static let description = CommandDescription(
    name: name,
    summary: "Make a new key that signs access tokens from now on",
    details: "The key before stays in `authbroker local jwks` until every token that it signed has expired.",
    examples: ["authbroker local rotate-key"])

  /// Has the key made, and names it.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    guard let keys = try context.ask(RotateLocalSigningKey.self, Empty())?.keys, let key = keys.first else { return }
    Output.notice(
      "tokens are signed with the key \(PlainText.line(key.keyID.utf8)); \(keys.count.counted("key")) verify")
  }
}
