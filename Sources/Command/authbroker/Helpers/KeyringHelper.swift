import BrokerProtocol
import JSON
import LinuxSystem
import SecretMemory

/// `authbroker helper keyring`: the command `keyring`, which pip and uv ask for passwords.
///
/// A service that is no target is the business of the next `keyring` on the path, which gets the same words.
enum KeyringHelper: ToolHelper {
  static let name = "helper keyring"
  static let about = CommandDescription(
    operands: "WORD…",
    summary: "Give pip, uv and others the token of a package index",
    details: """
      Called `keyring` (a symbolic link early on the PATH), it takes the place of the program of that name:
        keyring get SERVICE USER
        keyring --mode=creds --output=json get SERVICE [USER]
      SERVICE is an address or a host, and must be a target; for any other service, and for everything else that keyring
      can do, the next keyring on the PATH is run. Nothing is stored: set and del are refused for a target.
      """,
    takesRawWords: true,
    examples: ["authbroker helper keyring get https://pypi.example.com/simple ann"])
  static let programNames = ["keyring"]

  /// Answers, or becomes the next `keyring`.
  static func run(_ context: Context) throws(CommandFailure) {
    let words = context.arguments.operands
    let call: KeyringCall
    do throws(KeyringCall.Foreign) { call = try KeyringCall(words) } catch {
      try NextProgram.run("keyring", words, context.environment.all)
      guard case .incomplete(let reason) = error else {
        throw CommandFailure(.usage, "this is for the program keyring, and the PATH has no other one")
      }
      throw CommandFailure(.usage, reason)
    }
    guard let text = try answer(call, context) else {
      try NextProgram.run("keyring", words, context.environment.all)
      // The program itself prints nothing where it has no such password.
      throw .quiet(.failure)
    }
    Output.line(text)
  }

  /// The answer; nil where the service is no target.
  ///
  /// - Throws: a failure with code 1: 2 would say that the words were wrong.
  private static func answer(_ call: KeyringCall, _ context: Context) throws(CommandFailure) -> [UInt8]? {
    do throws(CommandFailure) {
      var broker = try HelperBroker(context)
      guard call.operation == .change else {
        guard let grant = try broker.grant(forFirst: call.addresses, where: { user(of: call, $0) != nil }),
          let user = user(of: call, grant.target)
        else { return nil }
        return text(of: grant.token.accessToken, user, call)
      }
      guard let target = try broker.target(ofFirst: call.addresses), user(of: call, target) != nil else { return nil }
      throw CommandFailure(
        .failure,
        "the password for \(call.service.shellQuoted) is an access token of the profile \(target.profile); "
          + "nothing is stored or removed")
    } catch {
      // Without a broker, passwords of the next program are as good as ever.
      if error.exitCode == .brokerUnreachable {
        context.tell(error.message)
        return nil
      }
      var failure = error
      failure.exitCode = .failure
      throw failure
    }
  }

  /// The user whose password is given; nil where another one was asked for than the target's.
  ///
  /// With credentials the user that was named is a hint (`get_credential` of keyring), and the answer has the target's.
  static func user(of call: KeyringCall, _ target: Target) -> String? {
    guard let username = target.username else { return call.user ?? AuthorizationValue.standardUsername }
    return call.operation == .credential || call.user == username ? username : nil
  }

  /// The text to print, without the end of the last line.
  ///
  /// - Returns: bytes that the caller wipes.
  static func text(of token: Secret, _ user: String, _ call: KeyringCall) -> [UInt8] {
    let hasUser = call.operation == .credential
    guard call.isJSON else { return SecretText.bytes(hasUser ? user + "\n" : "", token) }
    var writer = JSONWriter()
    writer.object { writer in
      if hasUser { writer.member("username", user) }
      writer.member(revealing: "password", token)
    }
    return writer.bytes
  }
}
