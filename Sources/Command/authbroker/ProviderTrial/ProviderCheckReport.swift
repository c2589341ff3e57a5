import BrokerProtocol
import JSON
import StateDirectory

/// The findings of `provider-check`, and their display: line by line for people, at the end for programs.
struct ProviderCheckReport {
  /// Why a trial was not tried to its end.
  enum End {
    /// A person has ended it.
    case interrupted
    /// The user has not done in time what it waited for.
    case late
  }

  private let context: Context
  private let check: CheckProvider.Result
  private var tried: [ProviderFinding] = []
  private var isTried = false
  private var end: End?
  private var isUserAwaited = false

  /// Room for the names of what a trial looks at: its lines come one by one.
  private static let trialLabelWidth = 18
  private static let levelWidth = ProviderFinding.Level.allCases.map { $0.rawValue.count }.max() ?? 0

  /// A report of a look that was taken.
  init(_ context: Context, _ check: CheckProvider.Result) {
    self.context = context
    self.check = check
  }

  /// Whether there is a login that could be tried.
  private var hasLogin: Bool { check.provider != Session.configuredType }

  /// Whether a login makes no sense: the provider cannot be reached, or is not the one that is meant.
  var isHopeless: Bool { check.findings.contains { $0.level == .failure && $0.errorKind != nil } }

  /// Shows what was seen without credentials.
  func show() {
    guard !context.wantsJSON else { return }
    Output.line(context.style.bold("Profile \(check.profile), provider \(PlainText.line(check.provider.utf8))"))
    let width = check.findings.map { $0.check.count }.max() ?? 0
    for finding in check.findings { line(finding, width) }
    guard !check.methods.isEmpty else { return }
    Output.line("It supports: \(PlainText.line(check.methods.joined(separator: ", ").utf8))")
  }

  /// Says what a trial would look at, or why there is none.
  func announce() {
    guard !context.wantsJSON else { return }
    guard hasLogin else { return }
    guard !isHopeless else {
      return Output.line("\nfix the failures above before trying a login")
    }
    Output.line("\n" + context.style.bold("With --login it would be shown that"))
    for finding in check.trial {
      let label = PlainText.line(finding.check.utf8).padded(to: Self.trialLabelWidth)
      let advice = finding.advice.map { context.style.dim(" (" + PlainText.line($0.utf8) + ")") } ?? ""
      Output.line("  \(label)  \(PlainText.line(finding.message.utf8))\(advice)")
    }
  }

  /// Begins to show a trial.
  mutating func beginTrial() {
    isTried = true
    if !context.wantsJSON { Output.line("\n" + context.style.bold("Trial, in a session of its own")) }
  }

  /// Shows what a trial has found.
  mutating func add(_ findings: [ProviderFinding]) {
    tried += findings
    guard !context.wantsJSON else { return }
    for finding in findings { line(finding, Self.trialLabelWidth) }
  }

  /// Notes that the trial waits for what the user does elsewhere.
  mutating func awaitUser() { isUserAwaited = true }

  /// Notes that the trial was not tried to its end.
  mutating func stop(_ end: End) { self.end = end }

  /// Says the sum of it.
  ///
  /// - Throws: a quiet failure with the exit code, where something failed.
  func finish() throws(CommandFailure) {
    if context.wantsJSON { context.printJSON(self) } else { summarise() }
    guard exitCode == .success else { throw .quiet(exitCode) }
  }

  private var failures: [ProviderFinding] { (check.findings + tried).filter { $0.level == .failure } }

  private var exitCode: ExitCode {
    switch end {
    // What was found is not all that there is.
    case .interrupted: return .failure
    case .late: return .loginRequired
    case nil: break
    }
    guard let first = failures.first else { return .success }
    let code = code(first)
    return failures.allSatisfy { self.code($0) == code } ? code : .failure
  }

  private func code(_ finding: ProviderFinding) -> ExitCode {
    switch finding.errorKind {
    // A login that was not finished is no wrong code.
    case .otpExpired where isUserAwaited: .loginRequired
    case .networkUnavailable, .timeout, .providerUnavailable, .rateLimited, .tlsFailed, .tlsPinMismatch:
      .providerUnavailable
    case let kind? where ExitCode(kind) == .wrongCredentials: .wrongCredentials
    default: .failure
    }
  }

  private func line(_ finding: ProviderFinding, _ width: Int) {
    let level = finding.level.rawValue.padded(to: Self.levelWidth)
    let label = PlainText.line(finding.check.utf8)
    let message = BrokerSentence.plain(finding.message)
    Output.line("  \(colored(finding.level, level))  \(label.padded(to: width))  \(message)")
    guard let advice = advice(finding) else { return }
    let indent = String(repeating: " ", count: Self.levelWidth + width + 6)
    Output.line(indent + context.style.dim("→ ") + advice)
  }

  /// The advice for a finding: the command that helps, or else the provider's own advice.
  private func advice(_ finding: ProviderFinding) -> String? {
    guard !FirstAccount.isMissing(finding) else {
      return FirstAccount.creation.on(check.profile).text(for: context.arguments)
    }
    return finding.advice.map { BrokerSentence.plain($0) }
  }

  private func colored(_ level: ProviderFinding.Level, _ word: String) -> String {
    let style = context.style
    return switch level {
    case .ok: style.good(word)
    case .note, .skipped: style.dim(word)
    case .warning: style.warning(word)
    case .failure: style.bad(word)
    }
  }

  private func summarise() {
    let warnings = (check.findings + tried).count { $0.level == .warning }
    let counts = [(failures.count, "failure"), (warnings, "warning")].filter { $0.0 > 0 }
    let sum = counts.map { $0.counted($1) }.joined(separator: ", ")
    let verdict: String =
      switch end {
      case .interrupted: "interrupted"
      case .late: "not finished in time"
      case nil: sum.isEmpty ? wellness : sum
      }
    Output.line("\n" + verdict)
    guard !isTried, !isHopeless, hasLogin else { return }
    let ways = check.loginMethods.compactMap { Self.options[$0] }.joined(separator: ", ")
    let next = NextCommand("to try it (\(ways))", "provider-check", check.profile.description, "--login")
    Output.line(next.text(for: context.arguments))
  }

  /// The closing line where nothing is wrong: not every provider says without a login whether it knows the client, and
  /// the embedded one has no clients.
  private var wellness: String {
    let isKnown = check.findings.contains { $0.check == "client" && $0.level == .ok }
    guard !isTried, !isKnown, hasLogin, check.provider != EmbeddedProvider.type else { return "no problems found" }
    return "no problems found; whether the provider accepts the client and its users shows only at a login"
  }

  private static let options = [
    "password": "--email ADDRESS", "deviceCode": "--method deviceCode", "browser": "--method browser",
    "clientCredentials": "--method clientCredentials",
  ]
}

extension ProviderCheckReport: JSONEncodable {
  /// The whole result for programs.
  func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("ok", exitCode == .success)
      writer.member("exitCode", Int(exitCode.rawValue))
      writer.member("profile", check.profile)
      writer.member("provider", check.provider)
      writer.member("methods", check.methods)
      writer.member("findings", check.findings)
      writer.member("tried", isTried)
      writer.member("trial", isTried ? tried : check.trial)
    }
  }
}
