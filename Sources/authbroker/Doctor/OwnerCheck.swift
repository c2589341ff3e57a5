import BrokerProtocol
import StateDirectory

/// Who owns the state directory, whether it answers, and whether it fits this program.
enum OwnerCheck: DoctorCheck {
  static let title = "Broker"
  /// What is said where the running broker does not know the method that a check needs.
  static let tooOld = Message(
    "the running broker is too old for this check", next: NextCommand("restart it with", "stop"))

  static func findings(_ patient: DoctorPatient) -> [DoctorFinding] {
    let (check, label) = ("owner.answers", "broker")
    switch patient.interview.contact {
    case .none: return []
    case .absent:
      let message = "no broker is running, and none was started; the vault was not checked"
      return [DoctorFinding(check, label, .note, message)]
    case .failed(let failure):
      var finding = DoctorFinding(check, label, .error, failure.message)
      if failure.exitCode == .vault { finding = finding.aboutVault() }
      return [finding]
    case .made(let owner, let wasStarted):
      guard let status = patient.interview.status else {
        let reason = patient.interview.statusFailure?.message ?? Message("it does not answer")
        return [DoctorFinding(check, label, .error, reason.behind("the broker does not report its status: "))]
      }
      return [
        answering(status, wasStarted), version(status), configuration(owner, patient.paths),
        RunningConfigurationCheck.finding(
          owner, status, patient.interview.events, isValid: patient.usedVerdict?.isValid ?? true),
      ].compactMap { $0 }
    }
  }

  private static func answering(_ status: GetStatus.Result, _ wasStarted: Bool) -> DoctorFinding {
    let since = wasStarted ? "started for this" : "up \(status.uptime.inWords)"
    let clients = status.connections.counted("connection")
    let version = PlainText.line(status.version.utf8)
    return DoctorFinding(
      "owner.answers", "broker", .ok, "version \(version), pid \(status.pid), \(since), \(clients)")
  }

  private static func version(_ status: GetStatus.Result) -> DoctorFinding? {
    guard status.version != ProgramVersion.current else { return nil }
    let text =
      "the running broker has version \(PlainText.line(status.version.utf8)), this program"
      + " \(ProgramVersion.current)"
    return DoctorFinding("owner.version", "version", .warning, text, next: NextCommand("restart it with", "stop"))
  }

  private static func configuration(_ owner: OwnerRecord?, _ paths: StatePaths) -> DoctorFinding? {
    guard let owner, owner.configuration != paths.configuration else { return nil }
    let used = PlainText.line((owner.configuration ?? "(none)").utf8)
    return DoctorFinding(
      "owner.configuration", "configuration", .note, "the running broker uses \(used)", path: owner.configuration)
  }
}
