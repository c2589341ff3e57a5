import BrokerProtocol
import SecretMemory

/// `authbroker helper git`, the credential helper of git (gitcredentials(7)).
enum GitHelper: ToolHelper {
  static let name = "helper git"
  static let about = CommandDescription(
    operands: "OPERATION",
    summary: "Give git the token of the server that it speaks to",
    details: """
      git runs it, once it is its credential helper:
        git config --global credential.https://git.example.com.helper authbroker

      OPERATION is get, store, erase or capability. get answers for the servers of the section targets. erase reports
      that the server has refused the token, and says so; the next one is another, and the session goes on. store does
      nothing.
      Where a target has a user name, it is for that user alone. Where the session of a target has ended, or no broker
      answers, git is told to stop instead of asking for a user name.
      """,
    examples: [#"printf 'protocol=https\nhost=git.example.com\n' | authbroker helper git get"#])

  static let programNames = ["git-credential-authbroker"]

  /// Does what git asks for; an operation that is not known is ignored, as git demands it.
  static func run(_ context: Context) throws(CommandFailure) {
    switch context.arguments.operands[0] {
    case "get": try get(try request(), context)
    case "erase": try erase(try request(), context)
    case "capability": Output.line("version 0\ncapability authtype\ncapability state")
    default: break
    }
  }

  private static func request() throws(CommandFailure) -> GitCredential {
    var input = ToolLines()
    // git ends its question by an empty line or by the end of the input.
    var blank = BlankLine()
    var text = try input.take { blank.end(in: $0) } ?? []
    defer { wipe(&text) }
    do throws(GitCredential.Fault) { return try GitCredential(parsing: text) } catch {
      throw CommandFailure(.failure, "git's question cannot be read: \(error.reason)")
    }
  }

  /// Answers with a token; says nothing where the server is no target.
  ///
  /// A failure stops git (`quit`), also where there is no broker to ask: git would ask a person, whom a script may not have,
  /// for what cannot be typed.
  private static func get(_ request: GitCredential, _ context: Context) throws(CommandFailure) {
    guard !request.urls.isEmpty else { return }
    do throws(CommandFailure) {
      var broker = try HelperBroker(context)
      guard let grant = try grant(for: request, &broker) else { return }
      Output.line(try answer(request, grant))
    } catch {
      Output.line("quit=1")
      throw error
    }
  }

  /// The token for a question, another one than it brings back; nil where the server is no target, or another user's.
  private static func grant(
    for request: GitCredential, _ broker: inout HelperBroker
  ) throws(CommandFailure) -> HelperBroker.Grant? {
    try broker.grant(forFirst: request.urls, insteadOf: request.refusedTokenID) { isMeant($0, request) }
  }

  /// Whether a target is for the user that git asks for, where it asks for one.
  private static func isMeant(_ target: Target, _ request: GitCredential) -> Bool {
    target.username == nil || request.username == nil || target.username == request.username
  }

  private static func answer(
    _ request: GitCredential, _ grant: HelperBroker.Grant
  ) throws(CommandFailure) -> [UInt8] {
    let answer = GitAnswer(
      token: grant.token, form: try form(for: grant.target, request, as: type(of: grant.token)),
      capabilities: request.capabilities,
      mayAskAgain: request.refusedTokenID == nil)
    guard let bytes = answer.bytes() else {
      throw CommandFailure(.failure, "the token of \(grant.target.profile) has a character that git does not take")
    }
    return bytes
  }

  /// The form in which a token is sent: as the target says, else as the server offers it, else as a password, which
  /// every server takes.
  ///
  /// - Parameters:
  ///   - target: the target.
  ///   - request: git's question.
  ///   - type: the token's scheme in the field `Authorization`; nil where that is not its field.
  /// - Returns: the form.
  /// - Throws: a failure where the target needs what this git cannot do.
  static func form(
    for target: Target, _ request: GitCredential, as type: String? = Target.Scheme.bearer.rawValue
  ) throws(CommandFailure) -> GitAnswer.Form {
    let username = target.username ?? request.username
    guard !request.isMail else { return .password(username: username) }
    let canBear = request.capabilities.contains("authtype")
    guard target.scheme != .bearer || canBear else {
      throw CommandFailure(.failure, "\(target.url) takes Bearer only, which git can send from version 2.46 on")
    }
    let isOffered = target.scheme == nil && request.offers("bearer")
    guard let type, canBear, target.scheme == .bearer || isOffered else {
      return .password(username: username ?? AuthorizationValue.standardUsername)
    }
    return .credential(authtype: type)
  }

  private static func type(of token: AccessToken) -> String? {
    guard let header = token.header else { return Target.Scheme.bearer.rawValue }
    let isStandard = header.lowercased() == AuthorizationValue.standardField.lowercased()
    return isStandard && !token.tokenType.isEmpty ? token.tokenType : nil
  }

  /// Reports the refused token, and says so, since git shows standard error; one that is not of the broker changes nothing.
  private static func erase(_ request: GitCredential, _ context: Context) throws(CommandFailure) {
    guard let token = request.password ?? request.credential, !request.urls.isEmpty else { return }
    var broker = try HelperBroker(context)
    guard let target = try broker.target(ofFirst: request.urls), isMeant(target, request) else { return }
    guard let hasAnother = try broker.reject(token, for: target) else { return }
    context.notice(Message(refusal(request, target, hasAnother: hasAnother)))
  }

  /// The statement for a refused token.
  ///
  /// A git that knows states has been given another token within its command: it erases the second one.
  private static func refusal(_ request: GitCredential, _ target: Target, hasAnother: Bool) -> String {
    guard request.refusedTokenID == nil else {
      return "\(target.url) refused two tokens of the profile \(target.profile) in a row; its account may lack access"
    }
    let refusal = "\(target.url) refused the token of the profile \(target.profile)"
    return refusal + (hasAnother ? "; it was replaced: run git again" : ", and there is no other")
  }
}
