import BrokerProtocol
import LinuxSystem
import StateDirectory

/// Checks whether the profiles' providers can be reached from the broker, and whether their clocks agree with this
/// one's.
enum ProviderCheck: DoctorCheck {
  static let title = "Providers"

  static func findings(_ installation: Installation) -> [DoctorFinding] {
    let report = installation.report
    guard let status = report.status else { return [] }
    let authorities =
      status.authorities.map(authority) + otherAuthorities(status.authorities, installation.context.environment)
    guard !installation.context.arguments.has("--no-network") else {
      return authorities + [DoctorFinding("providers.asked", "providers", .note, "not asked, because of --no-network")]
    }
    if let failure = report.providerCheckFailure { return authorities + [unanswered(failure)] }
    return authorities
      + (report.providerCheck?.providers ?? []).flatMap { provider in
        [finding(provider)] + ProviderSteps.findings(provider, report.providerSteps)
      }
  }

  /// The finding for a certificate authority trusted beside the system's.
  private static func authority(_ authority: GetStatus.Authority) -> DoctorFinding {
    let (check, path) = ("providers.authorities", PlainText.line(authority.path.utf8))
    let source = PlainText.line(authority.source.utf8)
    guard authority.isReadable else {
      let message = "\(path) could not be read, or has no certificate in it: it adds no trust; correct \(source)"
      let next = NextCommand("have the next broker read it after", "stop")
      return DoctorFinding(check, source, .warning, message, next: next, path: authority.path)
    }
    return DoctorFinding(
      check, source, .ok, "\(path) is trusted beside the system's authorities", path: authority.path)
  }

  /// The variables that name other authorities here than where the running broker was started: it goes by its own.
  static func otherAuthorities(
    _ authorities: [GetStatus.Authority], _ environment: EnvironmentVariables
  ) -> [DoctorFinding] {
    ["SSL_CERT_FILE", "SSL_CERT_DIR"].compactMap { name in
      let value = environment[name] ?? ""
      let own = name == "SSL_CERT_DIR" ? value.split(separator: ":").map { String($0) } : value.isEmpty ? [] : [value]
      let owners = authorities.filter { $0.source == name }.map { $0.path }
      guard own != owners else { return nil }
      let (here, there) = (own.joined(separator: ":"), owners.joined(separator: ":"))
      let message =
        "\(here.isEmpty ? "not set" : PlainText.line(here.utf8)) here, and "
        + "\(there.isEmpty ? "not set" : PlainText.line(there.utf8)) where the running broker was started, which goes by that"
      let next = NextCommand("have the next broker take it from here after", "stop")
      return DoctorFinding("providers.authorities", name, .warning, message, next: next)
    }
  }

  private static func unanswered(_ failure: CommandFailure) -> DoctorFinding {
    guard failure.error?.kind != .methodNotFound else {
      return DoctorFinding("providers.asked", "providers", .warning, OwnerCheck.tooOld)
    }
    return DoctorFinding(
      "providers.asked", "providers", .error, failure.message.behind("the providers could not be checked: "))
  }

  /// The line of the table for a report.
  static func finding(_ report: ProviderReport) -> DoctorFinding {
    var finding = DoctorFinding(check(report), report.profile.description, status(report), message(report))
    finding.profile = report.profile.description
    // A kind that is not known yet is one more reason not to reach it.
    let code = report.errorKind.map { ExitCode($0) } ?? .providerUnavailable
    if code == .providerUnavailable { finding.exitCode = code }
    return finding
  }

  private static func check(_ report: ProviderReport) -> String {
    guard report.isReachable else { return "providers.reachable" }
    guard report.errorKind == nil else { return "providers.configuration" }
    return report.isClockWrong ? "providers.clock" : "providers.reachable"
  }

  private static func status(_ report: ProviderReport) -> DoctorFinding.Status {
    guard report.isReachable, report.errorKind == nil else { return .error }
    return report.isTroubled || report.isClockWrong ? .warning : .ok
  }

  private static func message(_ report: ProviderReport) -> Message {
    let next = NextCommand("see", "provider-check", report.profile.description)
    let own = Message(
      BrokerSentence.plain(report.message), next: check(report) == "providers.configuration" ? next : nil)
    guard let host = report.host.map({ PlainText.line($0.utf8) }) else { return own }
    guard status(report) == .ok, let roundTrip = report.roundTrip else { return own.behind("\(host): ") }
    let security = report.usesTLS == true ? "over TLS" : "without TLS"
    let clock = report.clockSkew == nil ? "its clock is not known" : "its clock agrees"
    return Message("\(host) answers \(security) in \(roundTrip.milliseconds) ms; \(clock)")
  }
}
