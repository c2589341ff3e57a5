import AuthBrokerClient
import BrokerProtocol
import SecretMemory

/// What follows when a login was begun: a session, a one-time code that the user must enter, or something that is to be
/// done elsewhere.
struct LoginDialogue: ~Copyable {
  private let context: Context
  private var connection: BlockingConnection

  /// A dialogue on a connection.
  init(_ context: Context, _ connection: consuming BlockingConnection) {
    self.context = context
    self.connection = connection
  }

  /// Calls the method that begins it; Ctrl-C and the end of `--timeout` cancel it.
  mutating func begin<Method: BrokerMethod>(
    _ method: Method.Type, _ params: Method.Params, undoing: LoginCall.Undoing = .request
  ) throws(CommandFailure) -> LoginResult where Method.Result == LoginResult {
    try LoginCall(context, undoing: undoing).ask(method, params, on: &connection)
  }

  /// Asks where a profile stands, and what its provider is.
  mutating func session(of profile: ProfileName?) throws(CommandFailure) -> Session {
    try context.call(GetSession.self, .init(profile: profile), on: &connection).session
  }

  /// Goes on until there is a session, asking for codes where a person can be asked, and waiting for what is done
  /// elsewhere.
  ///
  /// - Throws: a failure with code 3 if a code is wanted and no person can be asked, or with `--no-wait`.
  mutating func finish(_ result: LoginResult) throws(CommandFailure) {
    var result = result
    while case .otpRequired(let challenge) = result.progress, context.canAsk {
      ChallengeNotice.tell(challenge)
      result = try answer(challenge)
    }
    if case .userActionRequired(let action) = result.progress {
      if context.wantsJSON { context.printJSON(result) } else { ActionNotice.tell(action, context) }
      guard !context.arguments.has("--no-wait") else { throw Self.goesOn(action, context) }
      result = try ActionWait(action, context).finish(on: &connection)
    }
    if context.wantsJSON { context.printJSON(result) }
    switch result.progress {
    case .authenticated(let session):
      if !context.wantsJSON { Output.message(Self.welcome(session)) }
    case .otpRequired(let challenge):
      throw Self.codeIsWanted(challenge)
    case .userActionRequired(let action):
      throw Self.goesOn(action, context)
    case .emailVerificationRequired:
      throw CommandFailure(
        .loginRequired, "the e-mail address must be verified first", next: NextCommand("log in then with", "login"))
    }
  }

  /// Answers with codes from the terminal until one is right or the challenge has ended.
  private mutating func answer(_ first: OTPChallenge) throws(CommandFailure) -> LoginResult {
    var challenge = first
    while true {
      let code = try SecretInput.askForCode("Code (or resend): ", of: challenge.otpFlowID)
      if SecretInput.isWord("resend", code) {
        challenge = try resend(challenge)
        continue
      }
      do throws(CommandFailure) {
        let params = VerifyOTP.Params(otpFlowID: challenge.otpFlowID, code: code)
        return try begin(VerifyOTP.self, params, undoing: .code(flow: challenge.otpFlowID))
      } catch {
        guard error.error?.kind == .otpInvalid else { throw error }
        context.tell(error.message)
      }
    }
  }

  /// - Returns: the new challenge, or the old one where another code cannot be sent yet.
  private mutating func resend(_ challenge: OTPChallenge) throws(CommandFailure) -> OTPChallenge {
    do throws(CommandFailure) {
      let fresh = try context.call(ResendOTP.self, .init(otpFlowID: challenge.otpFlowID), on: &connection)
      ChallengeNotice.tell(fresh)
      return fresh
    } catch {
      guard error.error?.kind == .resendTooSoon else { throw error }
      context.tell(error.message)
      return challenge
    }
  }

  /// What is said of a session that has come.
  static func welcome(_ session: Session) -> String {
    "logged in to \(session.profile)\(session.userWords)"
  }

  private static func goesOn(_ action: UserAction, _ context: Context) -> CommandFailure {
    guard !context.wantsJSON else { return .quiet(.loginRequired) }
    return CommandFailure(
      .loginRequired,
      "the broker waits for it until \(LocalTime.clock(action.expiresAt))",
      next: NextCommand("wait with", "login", "--flow", action.loginFlowID))
  }

  private static func codeIsWanted(_ challenge: OTPChallenge) -> CommandFailure {
    CommandFailure(
      .loginRequired,
      ChallengeNotice.text(challenge),
      next: NextCommand("answer with", "verify-otp", challenge.otpFlowID, "--code-stdin"))
  }
}
