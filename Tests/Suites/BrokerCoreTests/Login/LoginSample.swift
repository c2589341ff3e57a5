import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport

/// Pending logins in every state, and words for what they say.
enum LoginSample {
  static let start = Timestamp(milliseconds: 1_800_000_000_000)
  static let code = ScriptedProvider.secret("123456")
  static let flowSecret = ScriptedProvider.secret("flow")

  static func caller(_ number: UInt64) -> CallerID { CallerID(number) }

  static func callers(_ numbers: UInt64...) -> [CallerID] { numbers.map { CallerID($0) } }

  /// The moment so many seconds after the beginning.
  static func time(_ seconds: Double) -> Moment {
    Moment(wall: start + .seconds(seconds), uptime: .seconds(1000) + .seconds(seconds))
  }

  static let provided = ProviderChallenge(
    flow: ScriptedProvider.secret("flow-2"), method: .sms, maskedDestination: "•••67", otpLength: 6,
    expiresAt: start + .seconds(400), nextResendAt: start + .seconds(90), attemptsRemaining: 9)

  static func challenge() -> OTPChallenge {
    OTPChallenge(
      otpFlowID: "id", profile: .default, method: .sms, maskedDestination: "•••67", otpLength: 6,
      expiresAt: start + .seconds(300), nextResendAt: start + .seconds(30), attemptsRemaining: 5,
      backupCodesAllowed: true)
  }

  static func action(_ kind: UserAction.Kind) -> UserAction {
    UserAction(
      loginFlowID: "id", profile: .default, kind: kind, verificationURI: "https://id.example/device",
      expiresAt: start + .seconds(300), interval: kind == .deviceCode ? .seconds(5) : nil)
  }

  /// A login that has just begun to wait.
  static func code(wrongCodes: Int = 0) -> LoginMachine {
    resumed(PendingLogin(step: .code(challenge()), flow: flowSecret, wrongCodes: wrongCodes))
  }

  static func device(isReminded: Bool = false) -> LoginMachine { pending(.deviceCode, isReminded: isReminded) }

  static func browser() -> LoginMachine { pending(.browser) }

  /// A login that waits for its user for so many seconds.
  static func pending(_ kind: UserAction.Kind, for seconds: Int = 300, isReminded: Bool = false) -> LoginMachine {
    var action = action(kind)
    action.expiresAt = start + .seconds(seconds)
    var login = PendingLogin(step: .action(action), flow: flowSecret)
    login.isReminded = isReminded
    return resumed(login)
  }

  private static func resumed(_ login: PendingLogin) -> LoginMachine {
    var machine = LoginMachine(login)
    _ = machine.handle(.resumed, at: time(0))
    return machine
  }

  /// The names of all states, also of those in which another code is being sent.
  static let states = [
    "idle", "awaitingCode", "awaitingCode resending", "checkingCode", "checkingCode resending", "resting", "polling",
    "listening", "accepting", "over",
  ]

  static func machine(in state: String) -> LoginMachine {
    var machine = begun(in: state)
    for event in events(to: state) { _ = machine.handle(event, at: time(31)) }
    return machine
  }

  private static func begun(in state: String) -> LoginMachine {
    switch state {
    case "idle": LoginMachine(PendingLogin(challenge: challenge(), flow: flowSecret))
    case "resting", "polling": device()
    case "listening": browser()
    default: code()
    }
  }

  private static func events(to state: String) -> [LoginMachine.Event] {
    let given = LoginMachine.Event.codeGiven(CodeGuess(caller(1), code))
    switch state {
    case "awaitingCode resending": return [.resendWanted(caller: caller(9))]
    case "checkingCode": return [given]
    case "checkingCode resending": return [given, .resendWanted(caller: caller(9))]
    case "polling": return [.woken]
    case "accepting": return [given, .codeAccepted(guess: caller(1), .given)]
    case "over": return [.ended(.of(.cancelled), isTold: true)]
    default: return []
    }
  }

  static func name(_ state: LoginMachine.State) -> String {
    switch state {
    case .idle: "idle"
    case .awaitingCode(let resend): resend.caller == nil ? "awaitingCode" : "awaitingCode resending"
    case .checkingCode(_, let resend): resend.caller == nil ? "checkingCode" : "checkingCode resending"
    case .resting: "resting"
    case .polling: "polling"
    case .listening: "listening"
    case .accepting: "accepting"
    case .over: "over"
    }
  }

  static func name(_ action: LoginMachine.Action) -> String {
    switch action {
    case .check: "check"
    case .resend: "resend"
    case .poll: "poll"
    case .listen: "listen"
    case .stopListening: "stopListening"
    case .refuse(_, let error): "refuse \(error.kind.rawValue)"
    case .refuseWaiting(let kind): "refuseWaiting \(kind.rawValue)"
    case .accept(let callers, _): (["accept"] + callers.map(\.number.description)).joined(separator: " ")
    case .revoke: "revoke"
    case .keep(let events, let caller):
      (["keep"] + events.map(\.name.rawValue) + (caller.map { [$0.number.description] } ?? [])).joined(separator: " ")
    case .end(let reason, let isTold): "end \(reason.kind.rawValue)" + (isTold ? " told" : "")
    case .detach(let kind): "detach \(kind.rawValue)"
    }
  }
}
