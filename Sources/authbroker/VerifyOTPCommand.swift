import AuthBrokerClient
import BrokerProtocol
import SecretMemory

/// `authbroker verify-otp`.
enum VerifyOTPCommand: Command {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "verify-otp",
    operands: "[FLOW]",
    summary: "Answer a login that waits for its one-time code",
    details: """
      FLOW is the otpFlowId that `authbroker login` named; it may be left out where one login waits for a code.
      """,
    options: [
      .flag("--code-stdin", "read the code from standard input, one line"),
      .flag("--resend", "ask for another code instead of giving one"),
    ])

  /// Sends the code, and goes on until there is a session.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(0...1, of: self)
    let flow = try flow(context)
    guard !context.arguments.has("--resend") else { return try resend(flow, context) }
    let code = try code(flow, context)
    var dialogue = LoginDialogue(context, try context.connect())
    let result = try dialogue.begin(VerifyOTP.self, .init(otpFlowID: flow, code: code), undoing: .code(flow: flow))
    try dialogue.finish(result)
  }

  /// The login that is named, or the only one that waits for a code.
  ///
  /// - Throws: a failure with code 3 where none waits; a usage failure where there are several.
  private static func flow(_ context: Context) throws(CommandFailure) -> String {
    if let flow = context.arguments.operands.first { return try FlowHandle.checked(flow) }
    var connection = try context.connect()
    let wanted = try context.arguments.profile()
    let profiles = try context.call(ListSessions.self, Empty(), on: &connection).sessions.map(\.profile)
    let steps = try PendingLogins.list(of: profiles.filter { wanted == nil || $0 == wanted }, context, on: &connection)
    let flows = steps.compactMap { step in
      if case .code(let challenge) = step { challenge.otpFlowID } else { nil }
    }
    guard let flow = flows.first else {
      throw CommandFailure(.loginRequired, "no login waits for a code", next: NextCommand("begin one with", "login"))
    }
    guard flows.count == 1 else {
      throw .usage(
        "\(flows.count) logins wait for a code; name one, or its --profile",
        next: NextCommand("to see them", "sessions"))
    }
    return flow
  }

  private static func code(_ flow: String, _ context: Context) throws(CommandFailure) -> Secret {
    if context.arguments.has("--code-stdin") { return try SecretInput.standardInput(.code) }
    guard context.canAsk else { throw .usage("there is no terminal to ask for the code at; use --code-stdin") }
    return try SecretInput.askForCode("Code: ", of: flow)
  }

  private static func resend(_ flow: String, _ context: Context) throws(CommandFailure) {
    guard let challenge = try context.ask(ResendOTP.self, .init(otpFlowID: flow)) else { return }
    ChallengeNotice.tell(challenge)
  }
}
