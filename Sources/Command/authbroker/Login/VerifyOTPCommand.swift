import AuthBrokerClient
import BrokerProtocol
import SecretMemory

/// `authbroker verify-otp`.
enum VerifyOTPCommand: Command {
  static let name = "verify-otp"
  static let about = CommandDescription(
    operands: "[FLOW]",
    summary: "Answer a login that waits for its one-time code",
    details: """
      FLOW is the otpFlowId that `authbroker login` named; it may be left out where one login waits for a code. A backup
      code is taken too, where the login allows it. At a terminal a wrong code is asked for again.
      """,
    options: [
      .flag("--code-stdin", "read the code from standard input, one line"),
      .flag("--resend", "ask for another code instead of giving one"),
      .value("--channel", "CHANNEL", "have that code sent by sms or email, where the login allows both"),
    ],
    examples: ["authbroker verify-otp", "oathtool --totp -b - < key | authbroker verify-otp FLOW --code-stdin"])

  /// Sends the code, and goes on until there is a session.
  static func run(_ context: Context) throws(CommandFailure) {
    let named = context.arguments.operands.first
    var challenge = named == nil ? try onlyChallenge(context) : nil
    let flow = try FlowHandle.checked(named ?? challenge?.otpFlowID ?? "")
    let channel = try channel(context.arguments)
    guard !context.arguments.has("--resend") else { return try resend(flow, by: channel, context) }
    guard !context.arguments.has("--code-stdin") else {
      let code = try SecretInput.standardInput(.code)
      // Only a backup code has letters: whether one is taken, the challenge says.
      if challenge == nil, CodeShape(code).letters > 0 { challenge = try self.challenge(flow, context) }
      return try answer(flow, challenge.map { CodePrompt.Answer(code, $0) } ?? .code(code), context)
    }
    guard context.canAsk else { throw .usage("there is no terminal to ask for the code at; use --code-stdin") }
    if challenge == nil { challenge = try self.challenge(flow, context) }
    var dialogue = LoginDialogue(context, try context.connect())
    guard let challenge else {
      // As the enrolment of a second factor, which is not among the logins.
      try dialogue.expectCode(of: flow)
      let result = try FactorConfirmation.ask(for: flow, &dialogue) { () throws(CommandFailure) in
        try SecretInput.askForCode("Code: ", of: flow)
      }
      return try dialogue.finish(result)
    }
    try dialogue.finish(LoginResult(.otpRequired(challenge)))
  }

  private static func answer(
    _ flow: String, _ answer: CodePrompt.Answer, _ context: Context
  ) throws(CommandFailure) {
    var dialogue = LoginDialogue(context, try context.connect())
    let result: LoginResult
    switch answer {
    case .resend: return try resend(flow, context)
    case .resendBy(let channel): return try resend(flow, by: channel, context)
    case .code(let code): result = try dialogue.verify(code, of: flow)
    case .backupCode(let code): result = try dialogue.verify(backupCode: code, of: flow)
    }
    try dialogue.finish(result)
  }

  /// The challenge of a login; nil where no login of that name waits for a code.
  private static func challenge(_ flow: String, _ context: Context) throws(CommandFailure) -> OTPChallenge? {
    try challenges(context).first { $0.otpFlowID == flow }
  }

  /// The only login that waits for a code.
  ///
  /// - Throws: a failure with code 3 where none waits; a usage failure where there are several.
  private static func onlyChallenge(_ context: Context) throws(CommandFailure) -> OTPChallenge {
    let challenges = try challenges(context)
    guard let challenge = challenges.first else {
      var connection = try context.connect()
      let sessions = try context.call(ListSessions.self, Empty(), on: &connection).sessions
      let wanted = try context.arguments.profile()
      throw .noPendingLogin(FirstAccount.hint(sessions, context, on: &connection) ?? absence(sessions, wanted))
    }
    guard challenges.count == 1 else {
      throw .usage(
        "\(challenges.count) logins wait for a code; name one, or its --profile",
        next: NextCommand("to see them", "sessions"))
    }
    return challenge
  }

  /// The message where no login waits for a code: the code may be the first one of a second factor.
  private static func absence(_ sessions: [Session], _ wanted: ProfileName?) -> Message {
    let living = sessions.filter { (wanted == nil || $0.profile == wanted) && ExitCode($0.state) == .success }
    guard !living.isEmpty else {
      return Message("no login waits for a code", next: NextCommand("begin one with", "login"))
    }
    return Message(
      "no login waits for a code; the first code of a second factor goes with the FLOW that `account 2fa` has named",
      next: NextCommand("to have another sent", "account", "2fa", "METHOD").on(wanted))
  }

  /// The challenges of all profiles' logins, or of the one that is named.
  private static func challenges(_ context: Context) throws(CommandFailure) -> [OTPChallenge] {
    var connection = try context.connect()
    let wanted = try context.arguments.profile()
    let profiles = try context.call(ListSessions.self, Empty(), on: &connection).sessions.map { $0.profile }
    let steps = try PendingLogins.list(of: profiles.filter { wanted == nil || $0 == wanted }, context, on: &connection)
    return steps.compactMap { $0.challenge }
  }

  private static func channel(_ arguments: Arguments) throws(CommandFailure) -> OTPChallenge.Method? {
    guard let name = arguments["--channel"] else { return nil }
    guard arguments.has("--resend") else { throw .usage("--channel goes with --resend") }
    guard let channel = OTPChallenge.Method(rawValue: name), channel != .totp else {
      throw .unknown("channel", name, likely: nil, choices: "sms or email")
    }
    return channel
  }

  private static func resend(
    _ flow: String, by channel: OTPChallenge.Method? = nil, _ context: Context
  ) throws(CommandFailure) {
    var dialogue = LoginDialogue(context, try context.connect())
    let challenge = try dialogue.resend(flow, by: channel)
    if context.wantsJSON { context.printJSON(challenge) } else { dialogue.tell(challenge) }
  }
}
