import AuthBrokerClient
import BrokerProtocol
import JSON
import SecretMemory

/// What `token` and `header` have in common.
enum TokenRequest {
  /// The options of both.
  static let options: [Option] = [
    .value("--min-validity", "SECONDS", "the least remaining lifetime of the token (30)"),
    .value("--scope", "SCOPE", "a scope that the token must have; may be repeated"),
    .value("--audience", "NAME", "the audience of the token, as the provider names it"),
    .flag("--force-refresh", "refresh the token even if it is still valid"),
  ]

  /// Asks for the token and prints it behind a prefix; with `--json` prints the whole answer.
  ///
  /// The token goes from the buffer of the connection to standard output, and what held it is wiped. It makes no
  /// `Secret`: this process ends at once, and the memory for secrets costs more than everything else that it does.
  static func printToken(_ context: Context, after prefix: String) throws(CommandFailure) {
    let params = try params(context)
    var text = try context.text(of: GetAccessToken.name, params)
    guard !context.wantsJSON else { return Output.line(text) }
    let line = line(of: text, "accessToken", prefix)
    wipe(&text)
    guard let line else { throw CommandFailure(.failure, "the broker's answer has no token") }
    Output.line(line)
  }

  private static func params(_ context: Context) throws(CommandFailure) -> GetAccessToken.Params {
    let words = context.arguments.all("--scope")
    let scopes = words.flatMap { $0.split(separator: " ").map(String.init) }
    guard words.isEmpty || !scopes.isEmpty else { throw .usage("--scope needs the name of a scope") }
    var params = GetAccessToken.Params(
      profile: try context.arguments.profile(), minValidity: try context.arguments.seconds("--min-validity"),
      scopes: scopes.isEmpty ? nil : scopes, audience: context.arguments["--audience"],
      forceRefresh: context.arguments.has("--force-refresh"))
    if let timeout = try context.arguments.seconds("--timeout") { params.timeout = timeout }
    return params
  }

  /// The token that a member of the answer holds, behind a prefix; the caller wipes the answer.
  static func line(of result: [UInt8], _ member: String, _ prefix: String) -> [UInt8]? {
    guard let node = try? JSONDocument(parsing: result).root[member] else { return nil }
    return try? node.withStringBytes { token in
      var line: [UInt8] = []
      // All at once: an array that grows leaves its bytes behind. One more for the end of the line.
      line.reserveCapacity(prefix.utf8.count + token.count + 1)
      line.append(contentsOf: prefix.utf8)
      for index in token.indices { line.append(token[index]) }
      return line
    }
  }
}
