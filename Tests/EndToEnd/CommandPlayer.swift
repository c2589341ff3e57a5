import JSON
import LinuxSystem

/// Plays a golden conversation with commands: what a person or a script would type.
///
/// Calls that the program under test has no command for go through `authbroker call`.
struct CommandPlayer {
  private let sandbox: Sandbox
  private let program: String
  private var template = Template()

  init(_ program: String, _ sandbox: Sandbox) {
    self.program = program
    self.sandbox = sandbox
    sandbox.environment["AUTHBROKER_STATE"] = sandbox.state
  }

  /// Plays to the end.
  ///
  /// - Throws: ``TestFailure`` with what came out and what should have.
  mutating func play(_ conversation: Conversation) throws {
    var steps = conversation.steps[...]
    while let step = steps.popFirst() {
      switch step {
      case .newest(let member):
        template.bind(member, to: try Outbox.newest(member.rawValue, in: sandbox.outbox))
      // Commands prove themselves, and their provider is the embedded one.
      case .proof, .backupCodeOfBackend: break
      case .client(let text):
        guard case .server(let expected)? = steps.popFirst() else { throw TestFailure("no answer to \(text)") }
        try perform(try JSONDocument(parsing: Array(template.filled(text).utf8)).root, expected)
      case .server: throw TestFailure("an event cannot be played with commands")
      }
    }
  }

  private mutating func perform(_ request: JSONNode, _ expected: JSONNode) throws {
    let params = request["params"]
    let method = try request.required("method").string()
    let outcome: Sandbox.Outcome
    switch method {
    case "login":
      let email = try params?["email"]?.string() ?? ""
      outcome = try run(["login", "--email", email, "--password-stdin"], try params?["password"]?.string())
    case "verifyOtp":
      outcome = try run(
        ["verify-otp", try params?["otpFlowId"]?.string() ?? "", "--code-stdin"], try params?["code"]?.string())
    case "getAccessToken": outcome = try run(["token"])
    case "logout": outcome = try run(params?["all"] == nil ? ["logout"] : ["logout", "--all"])
    default:
      let text = params.map { String(decoding: $0.text, as: UTF8.self) } ?? "{}"
      outcome = try sandbox.run(BuiltPrograms.command, ["call", method, "-"], input: text)
    }
    try judge(method, outcome, expected)
  }

  private func run(_ words: [String], _ secret: String? = nil) throws -> Sandbox.Outcome {
    try sandbox.run(program, words, input: secret.map { $0 + "\n" } ?? "")
  }

  private mutating func judge(_ method: String, _ outcome: Sandbox.Outcome, _ expected: JSONNode) throws {
    let code = try Self.exitCode(for: expected)
    guard outcome.code == code else {
      throw TestFailure("\(method) ended with \(outcome.code), not \(code): \(outcome.output)\(outcome.errors)")
    }
    guard let result = expected["result"] else { return }
    var problem: String?
    switch method {
    case "getAccessToken":
      problem = template.match(try Self.quoted(outcome.output.dropLast()), try result.required("accessToken"))
    case "login":
      guard let flow = result["challenge"]?["otpFlowId"] else { break }
      let words = outcome.errors.split(whereSeparator: \.isWhitespace)
      guard let name = words.firstIndex(of: "verify-otp").map({ words[$0 + 1] }) else {
        throw TestFailure("nobody says how to answer: \(outcome.errors)")
      }
      problem = template.match(try Self.quoted(name), flow)
    case "verifyOtp", "logout": break
    default: problem = template.match(try JSONDocument(parsing: Array(outcome.output.utf8)).root, result)
    }
    if let problem { throw TestFailure("\(method): \(problem)") }
  }

  private static func quoted(_ text: Substring) throws -> JSONNode {
    var writer = JSONWriter()
    writer.string(String(text))
    return try JSONDocument(parsing: writer.bytes).root
  }

  /// The exit code that tells a script of an answer.
  private static func exitCode(for expected: JSONNode) throws -> Int32 {
    guard let error = expected["error"] else {
      return try expected["result"]?["status"]?.string() == "otpRequired" && expected["id"]?.integer() != 1 ? 3 : 0
    }
    switch try error.required("code").integer() {
    case 1001, 1002, 1024: return 3
    case 1020, 1022: return 4
    case 1026: return 1
    case let code: throw TestFailure("what is the exit code for \(code)?")
    }
  }
}
