import BrokerProtocol
import ClientSocket
import StateDirectory

/// The advice for an error of the broker.
enum Advice {
  /// The error's own sentence and the next step, as a command to type where there is one.
  static func message(for error: BrokerError) -> Message {
    guard error.kind != .methodNotFound else { return OwnerCheck.tooOld }
    let own = BrokerSentence.plain(error.message)
    if let command = command(for: error) {
      // The command says it.
      let isSaid = command.words.first == "login" && own.hasSuffix(again)
      return Message(isSaid ? String(own.dropLast(again.utf8.count)) : own, next: command)
    }
    if let details = details(of: error) { return Message(own + ": " + details) }
    return Message([own, step(for: error)].compactMap { $0 }.joined(separator: "; "))
  }

  private static let again = "; log in again"

  private static func command(for error: BrokerError) -> NextCommand? {
    switch error.kind {
    // Nothing is registered wrongly where another login is all that it takes.
    case .providerRejected where error.nextAction == .login: login(error)
    case .unsupportedByProvider where error.nextAction == .login: login(error)
    case .unsupportedByProvider where error.nextAction == .fixRequest:
      NextCommand("get a token with", "token").on(error.profile)
    case .loginRequired, .sessionExpired, .reauthRequired, .otpExpired: login(error)
    case .emailTaken: NextCommand("log in to it with", "login").on(error.profile)
    case .flowNotFound: NextCommand("begin another login with", "login").on(error.profile)
    case .consentDenied where error.nextAction == .askOwner: NextCommand("have it allowed with", "consent")
    case .consentDenied: NextCommand("ask again with", "login").on(error.profile)
    case .challengePending: answer(error)
    case .accessDenied where error.proof.map { StateProofFile.isEarlier($0.path) } ?? false:
      NextCommand("change over with", "stop")
    case .vaultLocked: NextCommand("unlock it with", "unlock")
    case .vaultTampered, .storeFailed, .keySourceUnavailable: NextCommand("see", "doctor")
    case .configInvalid where error.profile == nil: NextCommand("see", "config", "check")
    case .unknownProfile where error.profile != nil:
      NextCommand("have a changed configuration read with", "reload")
    default: providerCheck(error)
    }
  }

  private static func login(_ error: BrokerError) -> NextCommand {
    NextCommand("log in with", "login").on(error.profile)
  }

  private static func answer(_ error: BrokerError) -> NextCommand {
    if let action = error.action { return NextCommand("wait for it with", "login", "--flow", action.loginFlowID) }
    guard let challenge = error.challenge else { return NextCommand("answer it with", "verify-otp") }
    return NextCommand("answer it with", "verify-otp", challenge.otpFlowID)
  }

  private static func providerCheck(_ error: BrokerError) -> NextCommand? {
    let lead: String
    switch error.kind {
    case .tlsPinMismatch: lead = "enter no password anywhere; ask its operator for the new pins, then run"
    case .networkUnavailable: lead = "try again later, or see what is wrong with"
    case .invalidResponse, .configInvalid, .tlsFailed: lead = "see what is wrong with"
    case .providerRejected: lead = "compare the configuration with what is registered there; see also"
    case .unsupportedByProvider where error.profile != nil: lead = "to see what it supports"
    default: return nil
    }
    return NextCommand(lead, "provider-check", (error.profile ?? .default).description)
  }

  /// The fields that an error is about.
  private static func details(of error: BrokerError) -> String? {
    guard [.missingCredential, .validationFailed].contains(error.kind), let fields = error.fields, !fields.isEmpty
    else { return nil }
    return PlainText.line(fields.joined(separator: ", ").utf8)
  }

  /// The advice where no command helps.
  private static func step(for error: BrokerError) -> String? {
    switch error.kind {
    case .otpInvalid, .backupCodeInvalid, .invalidParams:
      error.attemptsRemaining.map { "\($0.counted("attempt")) left" }
    case .unknownProfile: "name one with --profile"
    case .insufficientScope:
      "a token cannot have scopes that its session lacks; add them to scopes in the profile's configuration, then log in "
        + "again; an audience must be known to the provider (local.audiences of the embedded one)"
    case .internal: error.correlationID.map { "its log has more under \(PlainText.line($0.utf8))" }
    default: later(error)
    }
  }

  private static func later(_ error: BrokerError) -> String? { moment(of: error).map { "try again " + $0 } }

  /// When to try again, as `in 30 s` or `later`; nil where that is of no use.
  static func moment(of error: BrokerError) -> String? {
    guard let delay = error.retryAfter else { return error.isRetryable ? "later" : nil }
    return "in \(Duration.seconds(max(1, (delay.milliseconds + 999) / 1000)).inWords)"
  }
}
