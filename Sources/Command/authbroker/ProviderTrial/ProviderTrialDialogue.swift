import AuthBrokerClient
import BrokerProtocol
import LinuxSystem
import SecretMemory

/// Has the broker try a provider, and asks the person at the terminal for what the trial needs.
struct ProviderTrialDialogue: ~Copyable {
  /// How long one question to the broker waits: the person who presses Ctrl-C notices no delay.
  private static let step = Duration.milliseconds(500)
  /// How long an answer may take beyond that.
  private static let patience = Duration.seconds(60)

  private let context: Context
  private var connection: BlockingConnection
  /// Why nothing more is tried; nil while the trial goes on.
  private var end: ProviderCheckReport.End?
  /// Whether the user action was shown.
  private var isToldOfAction = false
  /// When the time of `--timeout` is over for that; nil where it is not given.
  private var deadline: Duration?

  /// A dialogue on a connection.
  init(_ context: Context, _ connection: consuming BlockingConnection) {
    self.context = context
    self.connection = connection
  }

  /// Tries the provider to the end, whatever happens; Ctrl-C ends the session of the trial first, and `--timeout` the wait
  /// for what the user does elsewhere.
  ///
  /// - Throws: a failure before anything was tried, or where the broker is gone.
  mutating func run(
    _ profile: ProfileName?, _ method: LoginMethod?, _ report: inout ProviderCheckReport
  ) throws(CommandFailure) {
    var state = try begin(profile, method)
    let held = try HeldSignals()
    report.beginTrial()
    do throws(CommandFailure) {
      while true {
        report.add(state.findings)
        guard state.step != .none else { break }
        if case .user = state.step { report.awaitUser() }
        state = try goOn(state, held)
      }
    } catch {
      // Whatever was found first is worth more than what cannot be asked.
      stop(state.trialID, &report)
      throw error
    }
    if let end { report.stop(end) }
  }

  /// Begins without credentials where nothing says that a password is meant, and asks for one where that is not enough.
  private mutating func begin(
    _ profile: ProfileName?, _ method: LoginMethod?
  ) throws(CommandFailure) -> ProviderTrialState {
    var params = TryProvider.Params(
      profile: profile, method: method?.rawValue, triesWrongPassword: context.arguments.has("--wrong-password"),
      replaysToken: context.arguments.has("--reuse"))
    if method != .password {
      do throws(CommandFailure) { return try context.call(TryProvider.self, params, on: &connection) } catch {
        guard method == nil, error.error?.kind == .missingCredential else { throw error }
      }
    }
    let isNamed = ["--email", "--phone"].contains(where: context.arguments.has)
    let known = isNamed ? nil : try? context.call(GetSession.self, .init(profile: profile), on: &connection)
    let form = LoginDialogue.passwordForm(in: known?.login ?? [])
    try LoginAccount.ask(context, email: &params.email, phoneNumber: &params.phoneNumber, form)
    params.password = try PasswordSource.password(context)
    return try context.call(TryProvider.self, params, on: &connection)
  }

  /// Does what the trial waits for, and asks how far it has come then.
  private mutating func goOn(
    _ state: ProviderTrialState, _ held: borrowing HeldSignals
  ) throws(CommandFailure) -> ProviderTrialState {
    var params = ContinueTrial.Params(trialID: state.trialID, timeout: Self.step)
    switch state.step {
    case .code(let challenge) where end == nil: try answer(challenge, &params)
    case .user(let action) where !isToldOfAction: try tell(action)
    case .code, .user, .provider, .none: break
    }
    let (next, isInterrupted) = try ask(params, held)
    guard end == nil, let reason = reasonToStop(next, isInterrupted) else { return next }
    end = reason
    guard next.step != .none else { return next }
    var stop = ContinueTrial.Params(trialID: state.trialID, timeout: Self.step)
    stop.stops = true
    let last = try ask(stop, held).state
    return ProviderTrialState(trialID: last.trialID, findings: next.findings + last.findings, step: last.step)
  }

  private mutating func tell(_ action: UserAction) throws(CommandFailure) {
    isToldOfAction = true
    ActionNotice.tell(action, context)
    let limit = try context.arguments.seconds("--timeout")
    deadline = limit.map { BootClock.now + $0 }
    let end = limit.map { min(action.expiresAt, Timestamp(milliseconds: WallClock.milliseconds) + $0) }
    Output.message("waiting until \(LocalTime.clock(end ?? action.expiresAt)); Ctrl-C cancels")
  }

  /// Why a trial that stands here is not gone on with, and says so; nil where it is.
  private func reasonToStop(_ state: ProviderTrialState, _ isInterrupted: Bool) -> ProviderCheckReport.End? {
    if isInterrupted {
      Output.message("ending the session of the trial first")
      return .interrupted
    }
    guard case .user = state.step, let deadline, BootClock.now >= deadline else { return nil }
    Output.message("the login was not finished \(context.withinTimeout); ending the trial")
    return .late
  }

  private mutating func answer(
    _ challenge: OTPChallenge, _ params: inout ContinueTrial.Params
  ) throws(CommandFailure) {
    guard context.canAsk else {
      throw .usage("a one-time code is wanted, and there is no terminal to ask for it at")
    }
    let session = try? context.call(GetSession.self, .init(profile: challenge.profile), on: &connection).session
    ChallengeNotice.tell(challenge, isEmbedded: session?.provider == EmbeddedProvider.type, context)
    // A trial has the code sent as it was.
    var offered = challenge
    offered.channels = []
    switch try CodePrompt.ask(offered, goesOn: false) {
    case .code(let code): params.code = code
    case .backupCode(let code): params.backupCode = code
    case .resend, .resendBy: params.resends = true
    }
  }

  /// Asks the broker.
  ///
  /// From now on signals wait until they are polled; while a question is asked at the terminal, they do not.
  private mutating func ask(
    _ params: ContinueTrial.Params, _ held: borrowing HeldSignals
  ) throws(CommandFailure) -> (state: ProviderTrialState, isInterrupted: Bool) {
    held.holdAgain()
    return (try call(params), held.next() != nil)
  }

  /// Its time is that of a step: `--timeout` is for the user.
  private mutating func call(_ params: ContinueTrial.Params) throws(CommandFailure) -> ProviderTrialState {
    do throws(ClientError) {
      return try connection.request(ContinueTrial.self, params, timeout: Self.step + Self.patience)
    } catch { throw CommandFailure(error) }
  }

  /// Ends a trial that cannot be gone on with, and shows what comes of that.
  private mutating func stop(_ id: String, _ report: inout ProviderCheckReport) {
    var params = ContinueTrial.Params(trialID: id, stops: true, timeout: Self.step)
    while let state = try? call(params) {
      report.add(state.findings)
      guard state.step != .none else { return }
      params.stops = false
    }
  }
}
