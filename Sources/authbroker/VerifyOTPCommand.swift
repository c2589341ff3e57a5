import AuthBrokerClient
import BrokerProtocol
import SecretMemory

/// `authbroker verify-otp`.
enum VerifyOTPCommand: Command {
  /// How the help explains it.
  static let description = CommandDescription(
    name: "verify-otp",
    operands: "FLOW",
    summary: "Answer a login that waits for its one-time code",
    details: "FLOW is the otpFlowId that `authbroker login` named.",
    options: [
      .flag("--code-stdin", "read the code from standard input, one line"),
      .flag("--resend", "ask for another code instead of giving one"),
    ])

  /// Sends the code, and goes on until there is a session.
  static func run(_ context: Context) throws(CommandFailure) {
    try context.expectOperands(1...1, of: self)
    let flow = try FlowHandle.checked(context.arguments.operands[0])
    guard !context.arguments.has("--resend") else { return try resend(flow, context) }
    let code = try code(flow, context)
    var dialogue = LoginDialogue(context, try context.connect())
    let result = try dialogue.begin(VerifyOTP.self, .init(otpFlowID: flow, code: code), undoing: .code(flow: flow))
    try dialogue.finish(result)
  }

  private static func code(_ flow: String, _ context: Context) throws(CommandFailure) -> Secret {
    if context.arguments.has("--code-stdin") { return try SecretInput.standardInput(.code) }
    guard context.canAsk else { throw .usage("there is no terminal to ask for the code at; use --code-stdin.") }
    return try SecretInput.askForCode("Code: ", of: flow)
  }

  private static func resend(_ flow: String, _ context: Context) throws(CommandFailure) {
    guard let challenge = try context.ask(ResendOTP.self, .init(otpFlowID: flow)) else { return }
    Output.message("another code was sent; it ends at \(challenge.expiresAt).")
  }
}
