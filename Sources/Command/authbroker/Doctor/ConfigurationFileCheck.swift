import ClientSocket
import LinuxSystem
import StateDirectory

/// Whether the daemon is there, fits this program, and can read the configuration.
enum ConfigurationFileCheck: DoctorCheck {
  static let title = "Configuration"

  static func findings(_ installation: Installation) -> [DoctorFinding] {
    let program = OwnerLauncher.daemon(environment: installation.context.environment)
    do throws(Errno) {
      let version = try DaemonProgram.report(installation.context, installation.paths, ["--version"])
      let verdict = installation.verdict ?? ConfigurationVerdict(installation.context, installation.paths)
      return [daemon(PlainText.line(program.utf8), version), configuration(verdict, try verdict.report.get())]
        + verdict.missingHooks.map { DoctorFinding("configuration.hook", "hook", .warning, $0) }
        + verdict.uncertainRules.map { DoctorFinding("configuration.access", "access", .warning, $0) }
        + verdict.askingRules.map { DoctorFinding("configuration.consent", "consent", .ok, $0) }
    } catch {
      let message = ConnectError.noDaemon(path: PlainText.line(program.utf8), error).description
      return [DoctorFinding("configuration.daemon", "daemon", .error, message, path: program)]
    }
  }

  private static func daemon(_ program: String, _ report: DaemonProgram.Report) -> DoctorFinding {
    let (check, label) = ("configuration.daemon", "daemon")
    let version = report.text.split(separator: " ").last.map(String.init) ?? ""
    guard report.code == 0, !version.isEmpty else {
      return DoctorFinding(
        check, label, .error, "\(program) does not say its version; install it again", path: program)
    }
    guard ProgramVersion.agrees(with: version) else {
      let message =
        "\(program) has version \(version), this program \(ProgramVersion.current); install both from one build"
      return DoctorFinding(check, label, .warning, message, path: program)
    }
    return DoctorFinding(check, label, .ok, "\(program), version \(version)", path: program)
  }

  private static func configuration(
    _ verdict: ConfigurationVerdict, _ report: DaemonProgram.Report
  ) -> DoctorFinding {
    let (check, label) = ("configuration.valid", "configuration")
    guard let code = report.code else {
      return DoctorFinding(
        check, label, .error, "reading the configuration takes too long; is it on a dead network disk?")
    }
    guard code == 0 else {
      let prefix = "authbroker: "
      let text = report.text.hasPrefix(prefix) ? String(report.text.dropFirst(prefix.count)) : report.text
      return DoctorFinding(check, label, .error, text)
    }
    let file = verdict.file.map { PlainText.line($0.utf8) } ?? "no file, the built-in configuration"
    let profiles = PlainText.line(verdict.profiles.joined(separator: ", ").utf8)
    return DoctorFinding(check, label, .ok, "\(file) (profiles: \(profiles))", path: verdict.file)
  }
}
