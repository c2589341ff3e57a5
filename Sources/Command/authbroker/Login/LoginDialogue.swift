import AuthBrokerClient
import BrokerProtocol
import SecretMemory

/// The dialogue after a login was begun, up to a session: a one-time code that the user must enter, or a user action.
struct LoginDialogue: ~Copyable {
  /// The context of the command.
  let context: Context
  private var connection: BlockingConnection
  /// The state of the profile and the fields of its login, once they were asked for.
  private var known: GetSession.Result?

  /// A dialogue on a connection.
  init(_ context: Context, _ connection: consuming BlockingConnection) {
    self.context = context
    self.connection = connection
  }

  /// Calls a method that begins a login or goes on with one; Ctrl-C and the end of `--timeout` cancel it.
  mutating func begin<Method: BrokerMethod>(
    _ method: Method.Type, _ params: Method.Params, undoing: LoginCall.Undoing = .request
  ) throws(CommandFailure) -> Method.Result where Method.Result: LoginAnswer {
    try LoginCall(context, undoing: undoing).ask(method, params, on: &connection)
  }

  /// Calls any other method.
  mutating func call<Method: BrokerMethod>(
    _ method: Method.Type, _ params: Method.Params
  ) throws(CommandFailure) -> Method.Result {
    try context.call(method, params, on: &connection)
  }

  /// The state of a profile and the fields of its login: asked once, whatever is done meanwhile.
  private mutating func facts(_ profile: ProfileName?) throws(CommandFailure) -> GetSession.Result {
    if let known, profile == nil || known.session.profile == profile { return known }
    let facts = try call(GetSession.self, .init(profile: profile))
    known = facts
    return facts
  }

  /// The state of a profile at the beginning, and its provider.
  mutating func session(of profile: ProfileName?) throws(CommandFailure) -> Session { try facts(profile).session }

  /// Whether the provider of a profile is the embedded one.
  mutating func isEmbedded(_ profile: ProfileName?) -> Bool {
    (try? session(of: profile).provider) == EmbeddedProvider.type
  }

  /// Finds out what a login to a profile takes and where it stands, before its user is asked anything: one request.
  ///
  /// - Returns: nil from a broker that does not say.
  /// - Throws: a failure with code 7 if the vault is locked; the broker's own one for a profile that is not there.
  mutating func survey(_ profile: ProfileName?) throws(CommandFailure) -> GetSession.Result? {
    let known: GetSession.Result
    do throws(CommandFailure) { known = try facts(profile) } catch {
      guard [.unknownProfile, .vaultLocked].contains(error.error?.kind) else { return nil }
      throw error
    }
    guard known.session.state != .locked else { throw CommandFailure(.broker(BrokerError(.vaultLocked))) }
    return known
  }

  /// Whether no way to log in to a profile does without a password; false from a broker that does not say.
  mutating func takesPassword(_ profile: ProfileName?) -> Bool { Self.takePassword(loginForms(profile)) }

  /// The same of the ways to log in.
  static func takePassword(_ forms: [LoginForm]) -> Bool { !forms.isEmpty && !forms.contains { $0.fields.isEmpty } }

  /// The ways to log in to a profile, the usual one first; none from a broker that does not say.
  mutating func loginForms(_ profile: ProfileName?) -> [LoginForm] {
    (try? facts(profile).login) ?? []
  }

  /// The form of a login with a password among the given ones; the usual one where there is none.
  static func passwordForm(in forms: [LoginForm]) -> LoginForm {
    forms.first { $0.method == .password } ?? LoginForm(.password)
  }

  /// Goes on until there is a session, and prints the result.
  ///
  /// - Throws: a failure with code 3 if a code is wanted and no person can be asked, or with `--no-wait`.
  mutating func finish(_ result: LoginResult) throws(CommandFailure) { try conclude(try follow(result)) }

  /// Prints the result of a login that went as far as it could.
  ///
  /// - Throws: as ``finish(_:)``.
  func conclude(_ result: LoginResult) throws(CommandFailure) {
    if context.wantsJSON { context.printJSON(result) }
    let session: Session
    do throws(CommandFailure) { session = try self.session(in: result) } catch { throw error.behindResult() }
    if !context.wantsJSON { Output.notice(Self.welcome(session)) }
    if let sentence = known?.session.otherUser(than: session) { Output.message(sentence) }
  }

  /// Goes on until there is a session, asking for codes where a person can be asked, and waiting for what is done
  /// elsewhere.
  ///
  /// - Returns: the last result; that of a code which no person can be asked for is the challenge.
  /// - Throws: a failure with code 3 with `--no-wait`, where something is to be done elsewhere.
  mutating func follow(_ result: LoginResult) throws(CommandFailure) -> LoginResult {
    var result = result
    while case .otpRequired(let challenge) = result.progress {
      // A script reads of a code that was sent in the failure which says how it is answered.
      if context.canAsk || isEmbedded(challenge.profile) { tell(challenge) }
      guard context.canAsk else { break }
      result = try answer(challenge)
    }
    guard case .userActionRequired(let action) = result.progress else { return result }
    if context.wantsJSON { context.printJSON(result) } else { ActionNotice.tell(action, context) }
    guard !context.arguments.has("--no-wait") else { throw Self.goesOn(action, context) }
    return try ActionWait(action, context).finish(on: &connection)
  }

  /// The session that a login came to.
  ///
  /// - Throws: a failure with code 3 where it has come to none yet.
  func session(in result: LoginResult) throws(CommandFailure) -> Session {
    switch result.progress {
    case .authenticated(let session): return session
    case .otpRequired(let challenge): throw codeIsWanted(challenge)
    case .userActionRequired(let action): throw Self.goesOn(action, context)
    case .emailVerificationRequired:
      throw CommandFailure(
        .loginRequired, "the e-mail address must be verified first",
        next: NextCommand("enter the token of the message with", "account", "verify-email")
          .on(try context.profile()))
    }
  }

  // MARK: Codes

  /// Answers with codes from the terminal until one is right or the challenge has ended.
  private mutating func answer(_ first: OTPChallenge) throws(CommandFailure) -> LoginResult {
    var challenge = first
    while true {
      do throws(CommandFailure) {
        switch try CodePrompt.ask(challenge) {
        case .resend: challenge = try another(challenge)
        case .resendBy(let channel): challenge = try another(challenge, by: channel)
        case .code(let code): return try verify(code, of: challenge.otpFlowID)
        case .backupCode(let code): return try verify(backupCode: code, of: challenge.otpFlowID)
        }
      } catch {
        guard [.otpInvalid, .backupCodeInvalid].contains(error.error?.kind) else { throw error }
        context.tell(error.message)
      }
    }
  }

  /// Makes sure that something waits for a code, before anyone types one: what has no character is no guess, which no
  /// provider is asked about.
  ///
  /// - Throws: the broker's refusal of every code.
  mutating func expectCode(of flow: String) throws(CommandFailure) {
    do throws(CommandFailure) { _ = try call(VerifyOTP.self, .init(otpFlowID: flow, code: .empty)) } catch {
      guard error.error?.kind == .otpInvalid else { throw error }
    }
  }

  /// Answers a login with its one-time code.
  mutating func verify(_ code: Secret, of flow: String) throws(CommandFailure) -> LoginResult {
    try begin(VerifyOTP.self, .init(otpFlowID: flow, code: code), undoing: .code(flow: flow))
  }

  /// Answers a login with a backup code, and says how many are left.
  mutating func verify(backupCode: Secret, of flow: String) throws(CommandFailure) -> LoginResult {
    let params = VerifyBackupCode.Params(otpFlowID: flow, backupCode: backupCode)
    let answer = try begin(VerifyBackupCode.self, params, undoing: .code(flow: flow))
    if let count = answer.backupCodesRemaining {
      context.tell(BackupCodeNotice.message(remaining: count, of: try context.profile()))
    }
    return answer.login
  }

  /// Has another code sent for a login.
  mutating func resend(
    _ flow: String, by channel: OTPChallenge.Method? = nil
  ) throws(CommandFailure) -> OTPChallenge {
    let challenge: OTPChallenge
    do throws(CommandFailure) { challenge = try call(ResendOTP.self, .init(otpFlowID: flow, channel: channel)) } catch {
      throw ResendRefusal.explained(error)
    }
    return challenge
  }

  /// - Returns: the new challenge, or the old one where no other code can be sent now.
  private mutating func another(
    _ challenge: OTPChallenge, by channel: OTPChallenge.Method? = nil
  ) throws(CommandFailure) -> OTPChallenge {
    do throws(CommandFailure) {
      let fresh = try resend(challenge.otpFlowID, by: channel)
      tell(fresh)
      return fresh
    } catch {
      guard let refusal = error.error, ResendRefusal.leavesLogin(refusal) else { throw error }
      context.tell(error.message)
      return challenge
    }
  }

  // MARK: Messages

  /// Says where the code of a login is.
  mutating func tell(_ challenge: OTPChallenge) {
    ChallengeNotice.tell(challenge, isEmbedded: isEmbedded(challenge.profile), context)
  }

  /// The message about a new session.
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

  private func codeIsWanted(_ challenge: OTPChallenge) -> CommandFailure {
    CommandFailure(
      .loginRequired,
      known?.session.provider == EmbeddedProvider.type
        ? "the login waits for that code" : ChallengeNotice.text(challenge),
      next: NextCommand("answer with", "verify-otp", challenge.otpFlowID, "--code-stdin"))
  }
}
