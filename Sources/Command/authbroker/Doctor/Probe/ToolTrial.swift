import BrokerProtocol
import JSON
import LinuxSystem
import SecretMemory

/// Runs a tool's real program once, in a home of its own, against a probe that waits for one token.
struct ToolTrial {
  /// What a run showed.
  enum Outcome: Equatable {
    /// The probe got the token, or a connection that needed it, after so many milliseconds.
    case works(milliseconds: Int64)
    /// The program is too old, or a part of it is not installed.
    case incomplete
    /// It did not: what it came to, as the end of a sentence.
    case failed(String)
  }

  /// Variables that would lead a tool away from the probe or its scratch configuration, by their beginnings.
  private static let foreign = [
    "http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "PIP_", "UV_", "AWS_",
    "GOOGLE_", "DOCKER_", "REGISTRY_AUTH_FILE", "KUBECONFIG", "CARGO_", "RCLONE_", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
    "XDG_CACHE_HOME", "XDG_STATE_HOME", "AUTHBROKER_STATE",
  ]

  /// What is run.
  let call: ToolCall
  /// The program's file.
  let path: String
  /// What the token is for.
  let target: Target
  /// Where this program is, and what the user's environment is.
  let setup: SetupContext
  /// The broker's socket, which the helper finds nowhere else: its home is another one.
  let socket: String

  /// Runs it.
  ///
  /// - Parameters:
  ///   - token: what the probe waits for.
  ///   - answer: what the helper answered to its own call.
  /// - Returns: what it showed.
  /// - Throws: what a system call says, where it cannot be run.
  func outcome(_ token: Secret, answer: [UInt8]) throws(Errno) -> Outcome {
    let search = TokenSearch(token: token)
    var server = try ProbeServer(ProbeConversation(call.dialect, challenge: call.challenge, search))
    defer { server.end() }
    let home = try TemporaryDirectory(prefix: "authbroker-doctor")
    let words = call.words(ProbePlace(target: target, port: server.port, home: home.path, setup: setup))
    for (name, text) in words.files { try Self.write(text, "\(home.path)/\(name)") }
    var plan = ChildProcess.Plan(
      path: path, arguments: words.arguments, environment: environment(home.path, server.port, words.environment))
    plan.workingDirectory = home.path
    let started = BootClock.now
    var run = try ProbeRun(plan, input: words.input.map { Array($0.utf8) } ?? answer, &server)
    let time = BootClock.now - started
    defer { run.forget() }
    let works = call.evidence == .token ? run.sawToken : run.sawTLS
    if works { return .works(milliseconds: time.milliseconds) }
    if let code = run.code, code == call.codeOfMissingPart { return .incomplete }
    if let sign = call.signOfAge, run.code != nil, run.said.firstOccurrence(of: Array(sign.utf8)) != nil {
      return .incomplete
    }
    let end = run.code.map { "exit code \($0)" } ?? "ended because it took too long"
    let said = run.lastWords(search)
    return .failed(said.isEmpty ? "(\(end))" : "(\(end)): \(said)")
  }

  private static func write(_ text: String, _ path: String) throws(Errno) {
    try DirectoryEntry.makeDirectories(PathName.directory(of: path))
    try FileDescriptor.open(path, [.write, .create, .exclusive, .noFollow]).writeAll(Array(text.utf8).span)
  }

  /// The user's environment, without what leads elsewhere, in another home.
  private func environment(_ home: String, _ port: Int, _ own: [String: String]) -> [String: String] {
    var environment = setup.environment.filter { entry in !Self.foreign.contains { entry.key.hasPrefix($0) } }
    // Toolchains of the user's own are found by their homes.
    for (variable, name) in [("RUSTUP_HOME", ".rustup"), ("PYENV_ROOT", ".pyenv")]
    where environment[variable] == nil { environment[variable] = "\(setup.home)/\(name)" }
    environment["HOME"] = home
    environment["NO_PROXY"] = "*"
    environment["no_proxy"] = "*"
    environment["TMPDIR"] = home
    environment["AUTHBROKER_SOCKET"] = socket
    environment[ProbeStandIn.variable] = ProbeStandIn.value(port: port, target: target.url)
    for (name, value) in own { environment[name] = value }
    return environment
  }
}
