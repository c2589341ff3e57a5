import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport

/// Pending logins in every state, and words for what they say.
enum FlowSample {
  static let start = Timestamp(milliseconds: 1_800_000_000_000)
  static let code = ScriptedProvider.secret("123456")
  static let flowSecret = ScriptedProvider.secret("flow")

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
  static func code(wrongCodes: Int = 0) -> LoginFlow {
    resumed(PendingLogin(step: .code(challenge()), flow: flowSecret, wrongCodes: wrongCodes))
  }

  static func device() -> LoginFlow { resumed(PendingLogin(step: .action(action(.deviceCode)), flow: flowSecret)) }

  static func browser() -> LoginFlow { resumed(PendingLogin(step: .action(action(.browser)), flow: flowSecret)) }

  private static func resumed(_ login: PendingLogin) -> LoginFlow {
    var flow = LoginFlow(login)
    _ = flow.handle(.resumed, at: time(0))
    return flow
  }

  static func flow(in stage: String) -> LoginFlow {
    switch stage {
    case "awaitingCode": return code()
    case "checkingCode", "accepting":
      var flow = code()
      _ = flow.handle(.codeGiven(CodeGuess(1, code)), at: time(1))
      if stage == "accepting" { _ = flow.handle(.codeAccepted(guess: 1), at: time(2)) }
      return flow
    case "resting": return device()
    case "asking":
      var flow = device()
      _ = flow.handle(.woken, at: time(5))
      return flow
    case "listening": return browser()
    default: return LoginFlow(PendingLogin(challenge: challenge(), flow: flowSecret))
    }
  }

  static func name(_ stage: LoginFlow.Stage) -> String {
    switch stage {
    case .awaitingCode: "awaitingCode"
    case .checkingCode: "checkingCode"
    case .resting: "resting"
    case .asking: "asking"
    case .listening: "listening"
    case .accepting: "accepting"
    case .over: "over"
    }
  }

  static func name(_ action: LoginFlow.Action) -> String {
    switch action {
    case .check: "check"
    case .resend: "resend"
    case .poll: "poll"
    case .listen: "listen"
    case .stopListening: "stopListening"
    case .refuse(_, let error): "refuse \(error.kind.rawValue)"
    case .accept(let callers): (["accept"] + callers.map(\.description)).joined(separator: " ")
    case .revoke: "revoke"
    case .keep(let events, let caller):
      (["keep"] + events.map(\.name.rawValue) + (caller.map { [$0.description] } ?? [])).joined(separator: " ")
    case .end(let reason, let isTold): "end \(reason.kind.rawValue)" + (isTold ? " told" : "")
    case .detach(let kind): "detach \(kind.rawValue)"
    }
  }
}
