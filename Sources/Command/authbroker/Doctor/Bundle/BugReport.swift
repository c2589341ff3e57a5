import BrokerProtocol
import JSON
import LinuxSystem
import StateDirectory

/// The files of a report on a defect: what is known of this installation, without secrets, accounts and names.
struct BugReport {
  /// One file.
  struct File {
    /// Its name in the archive.
    let name: String
    /// Its contents in a few words.
    let summary: String
    /// Its text.
    let text: String
  }

  /// The folder in the archive.
  private static let folder = "authbroker-bundle"
  /// The variables whose presence is told, and not their values: they decide what a broker does.
  private static let variables = [
    "AUTHBROKER_STATE", "AUTHBROKER_SOCKET", "AUTHBROKER_CONFIG", "AUTHBROKER_PROFILE", "AUTHBROKER_DAEMON",
    WriteTrust.variable, "SSL_CERT_FILE", "SSL_CERT_DIR", "https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy",
    "ALL_PROXY", "no_proxy", "NO_PROXY", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME",
    "JOURNAL_STREAM", "INVOCATION_ID", "SSH_CONNECTION", "DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "TERM", "LANG",
    "LC_ALL",
  ]

  private let installation: Installation
  private let table: DoctorTable
  private let text: PublicText

  /// A report on what a doctor has found.
  init(_ installation: Installation, _ table: DoctorTable) {
    self.installation = installation
    self.table = table
    var text = PublicText(installation.context.environment)
    text.show(ProgramVersion.current)
    if let status = installation.report.status { Self.judge(status, &text) }
    self.text = text
  }

  /// Notes which names are shown, and which are not.
  private static func judge(_ status: GetStatus.Result, _ text: inout PublicText) {
    text.show(status.version)
    for session in status.profiles {
      text.show(session.profile.description)
      text.show(session.provider)
      for name in [session.user?.name, session.user?.id, session.userID] { text.hide(name) }
      text.hide(session.user?.email.map { String($0.prefix { $0 != "@" }) })
    }
    for address in status.addresses {
      guard let server = PublicText.server(address.address), let host = PublicText.host(address.address) else {
        continue
      }
      text.show(server)
      text.show(host)
    }
  }

  /// The files, the first of which tells of the others.
  var files: [File] {
    let files = [
      File(name: "versions.txt", summary: "programs, system, names of variables that are set", text: versions),
      File(name: "doctor.txt", summary: "the findings of the doctor", text: findings),
      File(name: "status.json", summary: "the broker: vault, counters, limits, deliveries", text: status),
      File(name: "sessions.json", summary: "the sessions: states and times", text: sessions),
      File(name: "configuration.json", summary: "the configuration: keys, limits, servers", text: configuration),
      File(name: "log.txt", summary: "the last lines of the broker's log", text: log),
    ]
    return [File(name: "README.txt", summary: "what is here, and what was left out", text: Self.contents(files))]
      + files
  }

  /// The archive of some files.
  static func archive(_ files: [File], at time: Timestamp) -> [UInt8] {
    var archive = TarArchive(madeAt: time.milliseconds / 1000)
    for file in files { archive.add("\(folder)/\(file.name)", Array(file.text.utf8)) }
    return archive.bytes
  }

  private static func contents(_ files: [File]) -> String {
    let width = files.map { $0.name.count }.max() ?? 0
    let list = files.map { "  \($0.name.padded(to: width))  \($0.summary)\n" }.joined()
    return HelpText.wrapped(
      """
      A report on this installation of AuthBroker, made by `authbroker doctor --bundle`.

      \(list)
      Left out, and replaced by (removed): tokens, passwords, codes, references to secrets, accounts, user names, paths,
      client names, and every word that this program does not know. What is left are the names of profiles, the servers of
      providers, versions, times and numbers. Read the files before you send them to anyone.
      """)
  }

  private var versions: String {
    let broker = installation.report.status.map { $0.version } ?? "none answers"
    let system = Self.line(of: "/etc/os-release", named: "PRETTY_NAME") ?? "unknown"
    let kernel = Self.contents(of: "/proc/sys/kernel/osrelease").map { $0.prefix { $0 != "\n" } } ?? "unknown"
    let set = Self.variables.filter { installation.context.environment[$0]?.isEmpty == false }
    return """
      program   \(ProgramVersion.current)
      broker    \(broker)
      system    \(PlainText.line(system.utf8))
      kernel    \(PlainText.line(kernel.utf8))
      machine   \(Self.machine)
      set       \(set.isEmpty ? "none" : set.joined(separator: " "))

      """
  }

  private static var machine: String {
    #if arch(x86_64)
    "x86_64"
    #elseif arch(arm64)
    "aarch64"
    #else
    "another"
    #endif
  }

  private var findings: String {
    table.sections.map { section in
      section.title + "\n"
        + section.findings.map { finding in
          // What is wrong with a configuration is told in its owner's words.
          let isRefusal = finding.check.hasPrefix("configuration") && finding.status == .error
          let sentence = isRefusal ? "the configuration is refused" : finding.message.sentence
          return "  \(finding.status.rawValue.padded(to: 7))  \(finding.check)  \(text.sentence(sentence))\n"
        }.joined()
    }.joined()
  }

  private var status: String {
    installation.report.status.map { BundleStatus(text: text).status($0) } ?? "{}\n"
  }

  private var sessions: String {
    BundleStatus(text: text).sessions(installation.report.status?.profiles ?? [])
  }

  /// The daemon knows the keys of a configuration; without it, nothing is shown.
  private var configuration: String {
    let report = try? DaemonProgram.report(installation.context, installation.paths, ["--outline-config"])
    guard report?.code == 0, let object = report?.object,
      let root = try? JSONDocument(parsing: Array(object.utf8)).root
    else { return "{ \"problem\": \"the program authbrokerd does not show it\" }\n" }
    return IndentedJSON.text(root)
  }

  private var log: String {
    let log = BundleLog(text: text)
    return log.lines(Self.end(of: installation.paths.log) ?? "").map { $0 + "\n" }.joined()
  }

  /// The end of a file, from the beginning of a line on.
  private static func end(of path: String) -> String? {
    guard let file = try? FileDescriptor.open(path, [.read, .noFollow, .nonBlocking]), let status = try? file.status(),
      status.kind == .regular
    else { return nil }
    let start = max(0, status.size - Int64(BundleLog.byteCount))
    guard let bytes = try? file.contents(from: start, limit: BundleLog.byteCount) else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    return start == 0 ? text : text.firstIndex(of: "\n").map { String(text[$0...]) }
  }

  private static func contents(of path: String) -> String? {
    guard let file = try? FileDescriptor.open(path, .read), let bytes = try? file.contents(limit: 4096) else {
      return nil
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func line(of path: String, named name: String) -> String? {
    let line = contents(of: path)?.split(separator: "\n").first { $0.hasPrefix(name + "=") }
    return line.map { $0.dropFirst(name.count + 1).filter { $0 != "\"" } }
  }
}
