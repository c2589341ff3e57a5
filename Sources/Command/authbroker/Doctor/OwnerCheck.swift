import BrokerProtocol
import LinuxSystem
import StateDirectory

/// Checks the owner of the state directory: whether there is one, it answers, and its version fits this program.
enum OwnerCheck: DoctorCheck {
  static let title = "Broker"
  /// The sentence where the running broker does not know a method.
  static let tooOld = Message(
    "the running broker is of an earlier version, which cannot do this", next: NextCommand("restart it with", "stop"))

  static func findings(_ installation: Installation) -> [DoctorFinding] {
    let (check, label) = ("owner.answers", "broker")
    switch installation.report.contact {
    case .none: return []
    case .absent:
      let message = "no broker is running, and none was started; the vault was not checked"
      return [DoctorFinding(check, label, .note, message)]
    case .failed(let failure):
      var finding = DoctorFinding(check, label, .error, failure.message)
      if failure.exitCode == .vault { finding = finding.aboutVault() }
      return [finding]
    case .made(let owner, let wasStarted):
      guard let status = installation.report.status else {
        let reason = installation.report.statusFailure?.message ?? Message("it does not answer")
        return [DoctorFinding(check, label, .error, reason.behind("the broker does not report its status: "))]
      }
      return [
        answering(status, wasStarted), stray(owner, status, installation), version(status),
        configuration(owner, installation.paths),
        RunningConfigurationCheck.finding(
          owner, status, installation.report.events, isValid: installation.usedVerdict?.isValid ?? true),
        keepsAlive(status),
      ].compactMap { $0 } + status.sockets.map(socket)
    }
  }

  private static func answering(_ status: GetStatus.Result, _ wasStarted: Bool) -> DoctorFinding {
    let since = wasStarted ? "started for this" : "up \(status.uptime.inWords)"
    let clients = status.connections.counted("connection")
    let version = PlainText.line(status.version.utf8)
    return DoctorFinding(
      "owner.answers", "broker", .ok, "version \(version), pid \(status.pid), \(since), \(clients)")
  }

  /// A broker at the usual socket whose state directory has gone, and is another one's to make.
  private static func stray(
    _ owner: OwnerRecord?, _ status: GetStatus.Result, _ installation: Installation
  ) -> DoctorFinding? {
    guard owner == nil, (installation.context.environment["AUTHBROKER_SOCKET"] ?? "").isEmpty,
      !FileLock.isHeld(installation.paths.ownerLock)
    else { return nil }
    let message =
      "the broker (pid \(status.pid)) does not own \(installation.paths.state): its own was removed or replaced"
    return DoctorFinding("owner.state", "state", .error, Message(message, next: NextCommand("to end it", "stop")))
  }

  /// The finding for an owner that was started on demand: it ends some time after its last use, and sessions are
  /// refreshed only while it runs.
  private static func keepsAlive(_ status: GetStatus.Result) -> DoctorFinding? {
    let isKept = status.profiles.contains { $0.refreshTokenPresent && $0.state != .expired }
    guard isKept, isOnDemand(status.pid) else { return nil }
    let message =
      "the broker was started on demand and ends some time after its last use: sessions are refreshed until then; "
      + "a broker that keeps them alive: systemctl --user enable --now authbroker.socket authbroker.service"
    return DoctorFinding("owner.keepsAlive", "kept alive", .note, message)
  }

  /// Whether a process of the daemon was started by a client that needed one (proc(5), `/proc/PID/cmdline`).
  private static func isOnDemand(_ process: Int) -> Bool {
    guard let file = try? FileDescriptor.open("/proc/\(process)/cmdline", .read) else { return false }
    var text = [UInt8](repeating: 0, count: 4096)
    guard case .bytes(let count) = file.read(into: &text) else { return false }
    return text[..<count].split(separator: 0).contains { $0.elementsEqual("--on-demand".utf8) }
  }

  /// The finding for a limited socket.
  private static func socket(_ socket: GetStatus.Socket) -> DoctorFinding {
    let (check, name) = ("owner.sockets", PlainText.line(socket.name.utf8))
    let path = PlainText.line(socket.path.utf8)
    guard let problem = socket.problem else {
      return DoctorFinding(check, name, .ok, "a limited socket listens at \(path)", path: socket.path)
    }
    let message = "the limited socket \(name) cannot be used: \(PlainText.line(problem.utf8))"
    return DoctorFinding(
      check, name, .warning, message, next: NextCommand("have it tried again with", "reload"), path: socket.path)
  }

  private static func version(_ status: GetStatus.Result) -> DoctorFinding? {
    guard !ProgramVersion.agrees(with: status.version) else { return nil }
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
