import BrokerProtocol
import ClientSocket
import LinuxSystem

/// Says what to do about an error of the broker, as a command to type where there is one.
enum Advice {
  /// The error's own sentence and the next step.
  static func sentences(for error: BrokerError) -> String {
    let own = PlainText.line(error.message.utf8)
    // A sentence that names a command already needs no other.
    guard !own.contains(": authbroker "), let step = step(for: error) else { return own }
    // The reasons of a configuration are no whole sentences.
    let end = own.last.map { ".!?;:".contains($0) } ?? true ? "" : "."
    return own + end + " " + step
  }

  /// Writes the options of this command line that say which broker is meant into the commands of a message.
  ///
  /// A command to type stands at the end of a message, behind `: `. `stop` must find the broker whatever its
  /// configuration is.
  static func repeating(_ arguments: Arguments, in message: String) -> String {
    let mark = ": authbroker "
    let parts = message.split(separator: mark, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[1].hasPrefix("help") else { return message }
    let names = parts[1] == "stop" ? ["--state"] : ["--state", "--config"]
    let options = names.compactMap { name in arguments[name].map { "\(name) \(quoted($0)) " } }
    return parts[0] + mark + options.joined() + parts[1]
  }

  /// A word as a shell takes it.
  static func quoted(_ word: String) -> String { ShellWord.quoted(PlainText.line(word.utf8)) }

  private static func step(for error: BrokerError) -> String? {
    let profile = error.profile.map { $0 == .default ? "" : " --profile \($0)" } ?? ""
    // Nothing is registered wrongly where another login is all that it takes.
    if error.kind == .providerRejected, error.nextAction == .login { return "Log in with: authbroker login" + profile }
    switch error.kind {
    case .loginRequired, .sessionExpired, .reauthRequired, .otpExpired:
      return "Log in with: authbroker login" + profile
    case .flowNotFound:
      return "Begin another one with `authbroker login\(profile)`, or see which wait with: authbroker sessions"
    case .challengePending:
      if let action = error.action { return "Go on with it: authbroker login --flow \(action.loginFlowID)" }
      let flow = error.challenge?.otpFlowID ?? "FLOW"
      return "Answer it with: authbroker verify-otp \(flow)"
    case .otpInvalid: return error.attemptsRemaining.map { $0 == 1 ? "1 attempt is left." : "\($0) attempts are left." }
    case .missingCredential, .validationFailed:
      guard let fields = error.fields, !fields.isEmpty else { return nil }
      return "It is about: " + PlainText.line(fields.joined(separator: ", ").utf8) + "."
    case .vaultLocked: return "Open it with: authbroker unlock"
    case .vaultTampered, .storeFailed, .keySourceUnavailable: return "See: authbroker doctor"
    case .configInvalid where error.profile == nil: return "See: authbroker config check"
    case .unknownProfile where error.profile == nil: return "Name one with --profile."
    case .unknownProfile: return "A broker that runs takes a new one over with: authbroker call reloadConfig"
    case .tlsPinMismatch:
      return "Enter no password anywhere; ask whoever runs it for its new pins, then: \(providerCheck(error))"
    case .networkUnavailable: return "Try again later, or see what is wrong with: \(providerCheck(error))"
    case .invalidResponse, .configInvalid, .tlsFailed: return "See what is wrong with: \(providerCheck(error))"
    case .providerRejected:
      return "Compare the configuration with what is registered there; see also: \(providerCheck(error))"
    case .unsupportedByProvider: return "What it can do says: \(providerCheck(error))"
    case .insufficientScope:
      return "A token has no more scopes than the session; where the provider grants scopes, the configuration of the"
        + " profile says which a login asks for."
    case .consentDenied: return "To ask again: authbroker login" + profile
    case .internal: return error.correlationID.map { "Its log has more under \(PlainText.line($0.utf8))." }
    default: return later(error)
    }
  }

  private static func providerCheck(_ error: BrokerError) -> String {
    "authbroker provider-check \(error.profile ?? .default)"
  }

  private static func later(_ error: BrokerError) -> String? {
    if let delay = error.retryAfter {
      return "Try again in \(max(1, (delay.milliseconds + 999) / 1000)) s."
    }
    return error.isRetryable ? "Try again later." : nil
  }
}
