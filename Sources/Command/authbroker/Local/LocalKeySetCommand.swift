import BrokerProtocol

/// `authbroker local jwks`.
enum LocalKeySetCommand: Command {
  static let name = "local jwks"
  /// How the help explains it.
  static let description = CommandDescription(
    name: name,
    summary: "Print the keys that verify access tokens, as a JSON Web Key Set",
    examples: ["authbroker local jwks > jwks.json"])

  /// Prints the set, which is JSON with or without `--json`.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...0, of: self)
    Output.json(try context.text(of: GetLocalKeySet.name, Empty()))
  }
}
