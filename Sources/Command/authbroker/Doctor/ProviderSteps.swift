import BrokerProtocol
import StateDirectory

/// The way from a protected resource to its tokens, which is found step by step: each step can go wrong at a server of
/// its own.
enum ProviderSteps {
  /// The type of the profiles that are known by their resource alone.
  private static let type = ProfileQuestions.mcp
  /// The words that the checks of the steps begin with; of the others, only what is wrong is told.
  private static let steps = ["resource", "reachable", "issuer", "pkce", "client"]
  /// The checks of the resource's own server, which the report tells already.
  private static let ofReport = ["reachable", "clock"]

  /// Whether the steps are looked at: the server of the resource has to answer.
  static func areTold(of report: ProviderReport) -> Bool { report.provider == type && report.isReachable }

  /// The lines of the table for the steps below that of a report.
  ///
  /// - Parameters:
  ///   - report: the report.
  ///   - answers: the steps of all profiles, as far as the broker has told them.
  /// - Returns: none for a profile of another type.
  static func findings(_ report: ProviderReport, _ answers: [CheckProvider.Result]) -> [DoctorFinding] {
    guard areTold(of: report) else { return [] }
    guard let answer = answers.first(where: { $0.profile == report.profile }) else {
      let next = NextCommand("each step to its tokens is told by", "provider-check", report.profile.description)
      return [finding("steps", .note, Message("not asked", next: next), report.profile)]
    }
    return answer.findings.drop { $0.level != .failure && ofReport.contains($0.check) }.filter(isTold).map { step in
      var found = finding(step.check, status(step.level), message(step, report.profile), report.profile)
      // As for a report: the exit code tells a server that is away from one that is not what it should be.
      let code = step.errorKind.map { ExitCode($0) } ?? .failure
      if code == .providerUnavailable { found.exitCode = code }
      return found
    }
  }

  private static func isTold(_ step: ProviderFinding) -> Bool {
    switch step.level {
    case .failure, .warning: true
    case .ok, .note, .skipped: steps.contains { step.check == $0 || step.check.hasPrefix($0 + ".") }
    }
  }

  private static func finding(
    _ check: String, _ status: DoctorFinding.Status, _ message: Message, _ profile: ProfileName
  ) -> DoctorFinding {
    let check = PlainText.line(check.utf8)
    var finding = DoctorFinding("providers.\(check)", "\(profile) \(check)", status, message)
    finding.profile = profile.description
    return finding
  }

  private static func status(_ level: ProviderFinding.Level) -> DoctorFinding.Status {
    switch level {
    case .ok: .ok
    case .note, .skipped: .note
    case .warning: .warning
    case .failure: .error
    }
  }

  private static func message(_ step: ProviderFinding, _ profile: ProfileName) -> Message {
    let sentences = [step.message] + (step.advice.map { [$0] } ?? [])
    let next = NextCommand("see", "provider-check", profile.description)
    return Message(
      sentences.map { BrokerSentence.plain($0) }.joined(separator: "; "), next: step.level == .failure ? next : nil)
  }
}
