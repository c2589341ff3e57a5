import BrokerProtocol
import SecretMemory

/// `authbroker helper curl`: a line for curl's configuration (curl(1), `--config`).
enum CurlHelper: ToolHelper {
  static let name = "helper curl"
  static let about = CommandDescription(
    operands: "ADDRESS",
    summary: "Print the line of a configuration that lets curl send the token",
    details: """
      The token is in no list of processes and in no file:
        authbroker helper curl https://a.example | curl -K - https://a.example/me
      The line is oauth2-bearer = "…", or user = "NAME:…" for a target with the scheme
      Basic. An address that is not a configured target is a failure, unless --profile is given.
      """,
    examples: ["authbroker helper curl https://a.example | curl -K - https://a.example/me"])

  /// Prints the line.
  static func run(_ context: Context) throws(CommandFailure) {
    var broker = try HelperBroker(context)
    let grant = try broker.configuredGrant(for: context.arguments.operands[0])
    guard let line = line(grant.token.accessToken, for: grant.target) else {
      throw CommandFailure(.failure, "the token has a line break, which no configuration of curl can hold")
    }
    Output.line(line)
  }

  /// The line, without its end; nil for a token that cannot stand in one.
  ///
  /// - Returns: bytes that the caller wipes.
  static func line(_ token: Secret, for target: Target) -> [UInt8]? {
    let isBasic = target.scheme == .basic
    let name = isBasic ? (target.username ?? AuthorizationValue.standardUsername) + ":" : ""
    var value = SecretText.bytes(name, token)
    defer { wipe(&value) }
    guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
    var line: [UInt8] = []
    // A quote or a backslash becomes two characters.
    line.reserveCapacity(2 * value.count + 32)
    line.append(contentsOf: (isBasic ? "user = \"" : "oauth2-bearer = \"").utf8)
    for byte in value {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { line.append(UInt8(ascii: "\\")) }
      line.append(byte)
    }
    line.append(UInt8(ascii: "\""))
    return line
  }
}
