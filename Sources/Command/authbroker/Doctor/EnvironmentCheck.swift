import BrokerProtocol
import LinuxSystem
import SecretMemory
import StateDirectory

/// Checks the machine and the environment of the programs.
enum EnvironmentCheck: DoctorCheck {
  static let title = "Environment"

  /// 2024-01-01: before this program was written, so no clock that is right shows less.
  private static let earliest = Timestamp(milliseconds: 1_704_067_200_000)

  static func findings(_ installation: Installation) -> [DoctorFinding] {
    let environment = installation.context.environment
    return [home(environment)] + variables(environment) + [clock(Timestamp(milliseconds: WallClock.milliseconds))]
      + [lockedMemory(MachineLimits.lockedMemory), hiddenMemory(MachineLimits.canHideMemory)].compactMap { $0 }
  }

  private static func home(_ environment: EnvironmentVariables) -> DoctorFinding {
    guard let home = environment["HOME"], PathName.isAbsolute(home) else {
      return DoctorFinding(
        "environment.home", "home", .warning, "HOME is not set to an absolute path; every command needs --state")
    }
    return DoctorFinding("environment.home", "home", .ok, PlainText.line(home.utf8))
  }

  /// Variables that change where things are, or that are there and without effect.
  private static func variables(_ environment: EnvironmentVariables) -> [DoctorFinding] {
    var findings: [DoctorFinding] = []
    for name in ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"] {
      guard let value = environment[name], !value.isEmpty, !PathName.isAbsolute(value) else { continue }
      let message =
        "\(name) is not an absolute path and so is ignored (XDG Base Directory Specification); fix or unset it"
      findings.append(DoctorFinding("environment.variable", name, .warning, message))
    }
    if let socket = environment["AUTHBROKER_SOCKET"], !socket.isEmpty {
      let message = "commands use only the broker on \(PlainText.line(socket.utf8)) and never start one"
      findings.append(DoctorFinding("environment.variable", "AUTHBROKER_SOCKET", .note, message))
    }
    for name in ["AUTHBROKER_SERVER_UID", "AUTHBROKER_STATE", "AUTHBROKER_CONFIG", "AUTHBROKER_DAEMON"] {
      guard let value = environment[name], !value.isEmpty else { continue }
      findings.append(DoctorFinding("environment.variable", name, .note, PlainText.line(value.utf8)))
    }
    return findings
  }

  /// Judges the time of the clock, by which tokens and their expiry are judged.
  static func clock(_ time: Timestamp) -> DoctorFinding {
    let (check, label) = ("environment.clock", "clock")
    guard time >= earliest else {
      return DoctorFinding(check, label, .error, at: time) {
        "the clock shows \($0), which is wrong: expired tokens look valid; set the clock"
      }
    }
    return DoctorFinding(check, label, .ok, at: time) { $0 }
  }

  /// Whether a limit lets the daemon keep its secrets from being swapped out.
  static func lockedMemory(_ limit: Int64?) -> DoctorFinding? {
    guard let limit else { return nil }
    let wanted = SecretArena.defaultCapacity + SecretArena.requestCapacity + SecretArena.openingCapacity
    guard limit >= Int64(wanted) else {
      let message =
        "only \(size(limit)) may be locked in memory (ulimit -l) and \(size(Int64(wanted))) are wanted:"
        + " secrets can be swapped out"
      return DoctorFinding("environment.lockedMemory", "locked memory", .warning, message)
    }
    let allowed = limit == .max ? "no limit" : "\(size(limit)) allowed"
    return DoctorFinding(
      "environment.lockedMemory", "locked memory", .ok, "\(allowed), \(size(Int64(wanted))) wanted")
  }

  /// The finding for a kernel that cannot keep secrets out of core files and forked children; nil for one that can.
  static func hiddenMemory(_ canHide: Bool) -> DoctorFinding? {
    guard !canHide else { return nil }
    let message =
      "this kernel cannot keep memory out of core files and forked children (madvise(2), MADV_DONTDUMP, MADV_WIPEONFORK);"
      + " the broker runs all the same and forks no children"
    return DoctorFinding("environment.hiddenMemory", "hidden memory", .warning, message)
  }

  /// A number of bytes for people.
  static func size(_ count: Int64) -> String {
    guard count < 1 << 30 else { return "\(count >> 30) GiB" }
    guard count >= 1 << 20 else { return "\(count >> 10) KiB" }
    let tenths = (count * 10) >> 20
    return tenths % 10 == 0 ? "\(tenths / 10) MiB" : "\(tenths / 10).\(tenths % 10) MiB"
  }
}
