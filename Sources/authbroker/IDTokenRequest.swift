import AuthBrokerClient
import BrokerProtocol
import SecretMemory

/// What `token --id` does.
enum IDTokenRequest {
  /// Asks for the ID token in place of the access token.
  static let option = Option.flag("--id", "the ID token, for servers that ask who the user is")

  /// Asks for the ID token and prints it; with `--json` prints the whole answer.
  ///
  /// It makes no `Secret`, as ``TokenRequest`` does not.
  static func printToken(_ context: Context) throws(CommandFailure) {
    for other in TokenRequest.options where context.arguments.has(other.name) {
      throw .usage("\(other.name) is about the access token; it does not go with \(option.name)")
    }
    let params = GetIDToken.Params(profile: try context.arguments.profile())
    let timeout = try context.timeout()
    var connection = try context.connect()
    var text: [UInt8]
    do throws(ClientError) {
      text = try connection.callForText(GetIDToken.name, params, timeout: timeout)
    } catch { throw context.failure(error) }
    guard !context.wantsJSON else { return Output.line(text) }
    let line = TokenRequest.line(of: text, "idToken", "")
    wipe(&text)
    guard let line else { throw CommandFailure(.failure, "the broker's answer has no token") }
    Output.line(line)
  }
}
