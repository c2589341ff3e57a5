import BrokerProtocol
import JSON
import LinuxSystem
import SecretMemory
import StateDirectory

/// The examination of `doctor --tool NAME`: the setup, and whether the answer to the tool's own question is the token.
struct ToolExamination: ~Copyable {
  /// The option that asks for it.
  static var option: Option {
    .value("--tool", "NAME", "ask the helper as the tool does, and check the answer", completion: ToolSetup.completion)
  }

  private let context: Context
  private let tool: ToolSetup
  private let setup: SetupContext
  private var broker: HelperBroker

  /// Prepares for the tool that the command line names.
  ///
  /// - Throws: a usage failure for an unknown tool.
  init(_ context: Context, _ name: String) throws(CommandFailure) {
    let tool = try ToolSetup.named(name)
    let setup = try SetupContext(context)
    let broker = try HelperBroker(context)
    self.context = context
    self.tool = tool
    self.setup = setup
    self.broker = broker
  }

  /// Examines the tool's configuration and asks its questions.
  ///
  /// - Returns: a group of findings for each of both.
  consuming func sections() throws(CommandFailure) -> [DoctorTable.Section] {
    let tool = tool
    let targets = try HelperSetup.targets(context, for: tool)
    guard !targets.isEmpty else {
      let finding = DoctorFinding("tool.targets", "targets", .error, HelperSetup.noTargets(for: tool))
      return [.init(title: tool.name, findings: [finding])]
    }
    let setup = setup
    let steps = tool.steps(targets, setup).compactMap { Self.finding($0, tool, setup) }
    var findings: [DoctorFinding] = []
    var files: [ProfileName] = []
    for target in targets {
      // A file holds a profile's token, whatever it is for.
      if case .file = tool.probe(target, setup) {
        guard !files.contains(target.profile) else { continue }
        files.append(target.profile)
      }
      findings.append(answer(for: target))
    }
    let settings = steps + ToolCheck.findings(tool, setup)
    let configuration = DoctorTable.Section(title: "\(tool.name): configuration", findings: settings)
    return (settings.isEmpty ? [] : [configuration]) + [.init(title: "\(tool.name): answers", findings: findings)]
  }

  private static func finding(_ step: any SetupStep, _ tool: ToolSetup, _ setup: SetupContext) -> DoctorFinding? {
    let (check, label) = ("tool.setup", "setup")
    let what = step.title
    let next = NextCommand("set it up with", "helper", "install", tool.name)
    switch step.state(setup) {
    case .installed: return DoctorFinding(check, label, .ok, what)
    case .missing: return DoctorFinding(check, label, .warning, "\(what) is missing", next: next)
    case .blocked(let why): return DoctorFinding(check, label, .warning, "\(why), in the place of \(what)")
    case .manual: return nil
    }
  }

  /// Judges the answer to the tool's question for a target.
  private mutating func answer(for target: Target) -> DoctorFinding {
    guard let probe = tool.probe(target, setup) else {
      let sentence = "\(tool.name) cannot be asked from here; run one of its programs"
      return DoctorFinding("tool.answer", target.url, .note, sentence)
    }
    do throws(CommandFailure) {
      switch probe {
      case .keys(let command): return try keys(command, target)
      case .file(let variable): return try file(variable, target)
      case .run(let program, let arguments, let input, let environment):
        if program == GitHelperStep.git { try GitHelperStep.expectReadableFiles(setup) }
        return try run(program, arguments, input, environment, target)
      }
    } catch { return Self.finding(error, target) }
  }

  private static func finding(_ failure: CommandFailure, _ target: Target) -> DoctorFinding {
    var finding = DoctorFinding("tool.answer", target.url, .error, failure.message)
    finding.exitCode = failure.exitCode
    finding.profile = target.profile.description
    return finding
  }

  /// Runs the tool's call; a token of another source is no answer.
  private mutating func run(
    _ program: String, _ arguments: [String], _ input: String, _ environment: [String: String], _ target: Target
  ) throws(CommandFailure) -> DoctorFinding {
    let found = SearchPath.program(program, setup.environment)
    if let hidden = hidden(program, found) { throw hidden }
    guard let path = found, (try? FileStatus.following(path)) != nil else {
      throw CommandFailure(
        .failure, "\(program.shellQuoted) is not \(PathName.isAbsolute(program) ? "there" : "on the PATH")",
        next: NextCommand("see", "helper", "list", tool.name))
    }
    // First: a login that is wanted is the finding then, and not what the tool makes of it.
    var token = try broker.token(for: target)
    let started = BootClock.now
    var whole = setup.environment
    for (name, value) in environment { whole[name] = value }
    var done = try ToolRun(path, arguments, input: input, environment: whole)
    defer { wipe(&done.output) }
    let time = BootClock.now - started
    if !Self.holds(done.output, token.accessToken, target) {
      // It may have been refreshed meanwhile.
      token = try broker.token(for: target)
      guard Self.holds(done.output, token.accessToken, target) else {
        throw refusal(program, done.code, isEmpty: done.output.isEmpty, target)
      }
    }
    let asker = tool.requirement.map { ", as \($0) or later asks for it" } ?? ""
    var finding = DoctorFinding(
      "tool.answer", target.url, .ok,
      "the token of \(target.profile) (\(token.tokenID)), in \(time.milliseconds) ms" + asker)
    finding.profile = target.profile.description
    return finding
  }

  private func refusal(
    _ program: String, _ code: Int32, isEmpty: Bool, _ target: Target
  ) -> CommandFailure {
    let others = tool.otherHelpers(setup)
    guard others.isEmpty else {
      return CommandFailure(
        .failure,
        "\(tool.name)'s answer is not the broker's; these helpers are asked as well: "
          + others.joined(separator: ", "),
        next: NextCommand("put authbroker alone in their place with", "helper", "install", tool.name))
    }
    let what = isEmpty ? "gave no answer (exit code \(code))" : "gave an answer without the broker's token"
    // What was done already is not advised again.
    let isDone = tool.steps([target], setup).allSatisfy { [.installed, .manual].contains($0.state(setup)) }
    let next =
      isDone
      ? NextCommand("see what is set up with", "helper", "list", tool.name)
      : NextCommand("set it up with", "helper", "install", tool.name)
    return CommandFailure(.failure, "\(program.shellQuoted) \(what)", next: next)
  }

  /// The failure where another program of its name, or none, comes before the tool's link on the `PATH`.
  private func hidden(_ program: String, _ found: String?) -> CommandFailure? {
    guard found.map({ !setup.leadsHere($0) }) ?? true else { return nil }
    let places = [setup.shimDirectory, setup.linkDirectory]
    guard let place = places.first(where: { setup.leadsHere("\($0)/\(program)") }) else { return nil }
    let other = found.map { ", and \($0.shellQuoted) is found instead" } ?? ""
    return CommandFailure(
      .failure,
      "\(program.shellQuoted) is in \(place.shellQuoted), which is not first on the PATH\(other); in your shell's profile: "
        + "export PATH=\(place.shellQuoted):\"$PATH\"")
  }

  /// Whether an answer has the token in it, as it is or as the password of basic authentication.
  private static func holds(_ output: [UInt8], _ token: Secret, _ target: Target) -> Bool {
    var plain = SecretText.bytes("", token)
    defer { wipe(&plain) }
    var basic = target
    basic.scheme = .basic
    var value = AuthorizationValue.bytes(token, for: basic)
    defer { wipe(&value) }
    return output.firstOccurrence(of: plain) != nil
      || output.firstOccurrence(of: value.dropFirst("Basic ".utf8.count)) != nil
  }

  /// Runs the command of a profile of AWS's configuration as AWS's tools do; what it gives is not shown.
  private func keys(_ command: String, _ target: Target) throws(CommandFailure) -> DoctorFinding {
    let started = BootClock.now
    var done = try ToolRun("/bin/sh", ["-c", command], environment: setup.environment)
    let time = BootClock.now - started
    defer { wipe(&done.output) }
    let hasKeys = done.code == 0 && done.output.starts(with: "{\"Version\":1,".utf8)
    guard hasKeys else {
      throw CommandFailure(
        ExitCode(rawValue: done.code) ?? .failure,
        "the command printed no keys (exit code \(done.code)); to see why, run: \(command)")
    }
    return DoctorFinding("tool.answer", target.url, .ok, "keys of the role, in \(time.milliseconds) ms")
  }

  /// The file that a variable names, as `authbroker file` keeps it.
  private mutating func file(_ variable: String, _ target: Target) throws(CommandFailure) -> DoctorFinding {
    let remedy = NextCommand("keep one with", "file", "--id", "PATH")
    guard let path = setup.environment[variable], PathName.isAbsolute(path) else {
      throw CommandFailure(.failure, "\(variable) names no file", next: remedy)
    }
    let shown = path.shellQuoted
    guard let status = try? FileStatus.ofLink(path), status.kind == .regular else {
      throw CommandFailure(.failure, "\(shown) is not there, or is no file", next: remedy)
    }
    guard status.owner == ProcessIdentity.user, !status.isOpenToOthers else {
      throw CommandFailure(.failure, "\(shown) is open to others; run: chmod 600 \(shown)")
    }
    guard var bytes = try ToolFile(path: path).read() else {
      throw CommandFailure(.failure, "\(shown) is not there", next: remedy)
    }
    defer { wipe(&bytes) }
    let token = try broker.identityToken(of: target.profile)
    guard bytes == SecretText.bytes("", token.idToken) else {
      throw CommandFailure(.failure, "\(shown) does not hold the ID token of \(target.profile)", next: remedy)
    }
    let expiry = token.expiresAt.map { "; it expires \(LocalTime.relative($0))" } ?? ""
    let sentence = "the ID token of \(target.profile)\(expiry)"
    return DoctorFinding("tool.file", shown, .ok, sentence, path: path)
  }
}
