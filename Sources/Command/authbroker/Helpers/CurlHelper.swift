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
    var broker = try HelperBroker(context, sending: .any)
    let grant = try broker.configuredGrant(for: context.arguments.operands[0])
    guard let line = line(grant.token, for: grant.target) else {
      throw CommandFailure(.failure, "the token has a line break, which no configuration of curl can hold")
    }
    Output.line(line)
  }

  /// The line, without its end; nil for a token that cannot stand in one.
  ///
  /// - Returns: bytes that the caller wipes.
  static func line(_ token: AccessToken, for target: Target) -> [UInt8]? {
    let (option, prefix) = form(of: token, for: target)
    var value = SecretText.bytes(prefix, token.accessToken)
    defer { wipe(&value) }
    guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
    var line: [UInt8] = []
    // A quote or a backslash becomes two characters.
    line.reserveCapacity(2 * value.count + 32)
    line.append(contentsOf: "\(option) = \"".utf8)
    for byte in value {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { line.append(UInt8(ascii: "\\")) }
      line.append(byte)
    }
    line.append(UInt8(ascii: "\""))
    return line
  }

  /// The option of curl that sends a token, and what stands before that in its value.
  private static func form(of token: AccessToken, for target: Target) -> (option: String, prefix: String) {
    if target.scheme == .basic { return ("user", (target.username ?? AuthorizationValue.standardUsername) + ":") }
    guard let header = token.header else { return ("oauth2-bearer", "") }
    return ("header", header + ": " + AuthorizationValue.prefix(header: header, type: token.tokenType))
  }
}
