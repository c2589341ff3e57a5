import BrokerProtocol
import JSON
import LinuxSystem
import SecretMemory
import StateDirectory

/// What `doctor --tool NAME` looks at: what is set up, and whether the tool's own call gives the broker's token.
struct ToolExamination: ~Copyable {
  /// The option that asks for it.
  static let option = Option.value("--tool", "NAME", "run the tool's own call and check that it gives the token")

  private let context: Context
  private let tool: ToolSetup
  private let setup: SetupContext
  private let socket: String
  private var broker: HelperBroker

  /// Prepares for the tool that the command line names.
  ///
  /// - Throws: a usage failure for an unknown tool.
  init(_ context: Context, _ name: String) throws(CommandFailure) {
    let tool = try ToolSetup.named(name)
    let setup = try SetupContext(context)
    let broker = try HelperBroker(context)
    socket = try context.paths().socket
    self.context = context
    self.tool = tool
    self.setup = setup
    self.broker = broker
  }

  /// Looks at the tool's configuration and runs its calls.
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
      findings += answers(for: target)
    }
    let configuration = DoctorTable.Section(title: "\(tool.name): configuration", findings: steps)
    return (steps.isEmpty ? [] : [configuration]) + [.init(title: "\(tool.name): answers", findings: findings)]
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

  /// What the tool's helper answers to its own call, and what the tool's programs then send to the probe.
  private mutating func answers(for target: Target) -> [DoctorFinding] {
    guard let probe = tool.probe(target, setup) else {
      let sentence = "\(tool.name) cannot be asked from here; run one of its programs"
      return [DoctorFinding("tool.answer", target.url, .note, sentence)]
    }
    do throws(CommandFailure) {
      switch probe {
      case .keys(let command): return [try keys(command, target)]
      case .file(let variable):
        let (finding, token) = try file(variable, target)
        return [finding] + programs(target, token, answer: [])
      case .run(let program, let arguments, let input, let environment):
        if program == GitHelperStep.git { try GitHelperStep.expectReadableFiles(setup) }
        var (finding, token, answer) = try run(program, arguments, input, environment, target)
        defer { wipe(&answer) }
        return [finding] + programs(target, token, answer: answer)
      }
    } catch { return [Self.finding(error, target)] }
  }

  private static func finding(_ failure: CommandFailure, _ target: Target) -> DoctorFinding {
    var finding = DoctorFinding("tool.answer", target.url, .error, failure.message)
    finding.exitCode = failure.exitCode
    finding.profile = target.profile.description
    return finding
  }

  /// Runs the tool's own programs against the probe, those that are there.
  private func programs(_ target: Target, _ token: Secret, answer: [UInt8]) -> [DoctorFinding] {
    let calls = tool.calls.filter { $0.concerns(target) }
    guard !calls.isEmpty else { return [] }
    var findings: [DoctorFinding] = []
    for call in calls {
      let path = SearchPath.program(call.program, setup.environment, where: { $0.isProgram })
      guard let path, !setup.leadsHere(path) else { continue }
      let trial = ToolTrial(call: call, path: path, target: target, setup: setup, socket: socket)
      findings.append(finding(of: trial, token, answer))
    }
    guard findings.isEmpty else { return findings }
    let names = calls.map { $0.requirement }.joined(separator: ", or ")
    let sentence = "called as \(tool.name) calls it; \(tool.name) itself was not run: install \(names)"
    return [DoctorFinding("tool.program", target.url, .note, sentence)]
  }

  private func finding(of trial: ToolTrial, _ token: Secret, _ answer: [UInt8]) -> DoctorFinding {
    let (check, label, name) = ("tool.program", trial.target.url, trial.call.program)
    let isToken = trial.call.evidence == .token
    var finding: DoctorFinding
    do throws(Errno) {
      switch try trial.outcome(token, answer: answer) {
      case .works(let time):
        let what =
          isToken ? "sent the token to a probe" : "took the answer and connected to a probe (TLS hides the token)"
        finding = DoctorFinding(check, label, .ok, "\(name) \(what), in \(time) ms", path: trial.path)
      case .incomplete:
        let sentence = "\(name) lacks what this needs: install \(trial.call.requirement)"
        finding = DoctorFinding(check, label, .note, sentence, path: trial.path)
      case .failed(let end):
        let what = isToken ? "send the token" : "take the answer and connect"
        let sentence = "\(name) did not \(what) to a probe \(end); it needs \(trial.call.requirement)"
        finding = DoctorFinding(check, label, .error, sentence, path: trial.path)
      }
    } catch {
      finding = DoctorFinding(check, label, .error, "\(trial.path.shellQuoted) cannot be run: \(error)")
    }
    finding.profile = trial.target.profile.description
    return finding
  }

  /// Runs the tool's call; a token of another source is no answer.
  ///
  /// - Returns: what was found, the token, and the answer, which the caller wipes.
  private mutating func run(
    _ program: String, _ arguments: [String], _ input: String, _ environment: [String: String], _ target: Target
  ) throws(CommandFailure) -> (DoctorFinding, Secret, [UInt8]) {
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
    let time = BootClock.now - started
    if !Self.holds(done.output, token.accessToken, target) {
      // It may have been refreshed meanwhile.
      token = try broker.token(for: target)
      guard Self.holds(done.output, token.accessToken, target) else {
        defer { wipe(&done.output) }
        throw refusal(program, done.code, isEmpty: done.output.isEmpty, target)
      }
    }
    let reason = tool.reasonNotRun.map { ", called as \(tool.name) calls it; \(tool.name) itself was not run: \($0)" }
    var finding = DoctorFinding(
      "tool.answer", target.url, .ok,
      "the token of \(target.profile) (\(token.tokenID)), in \(time.milliseconds) ms" + (reason ?? ""))
    finding.profile = target.profile.description
    return (finding, token.accessToken, done.output)
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

  /// What keeps the tool from a link that was made: another program of its name, or none, comes first on the `PATH`.
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
  private mutating func file(
    _ variable: String, _ target: Target
  ) throws(CommandFailure) -> (DoctorFinding, Secret) {
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
    let reason = tool.reasonNotRun.map { "; \(tool.name) itself was not run: \($0)" } ?? ""
    let sentence = "the ID token of \(target.profile)\(expiry)\(reason)"
    return (DoctorFinding("tool.file", shown, .ok, sentence, path: path), token.idToken)
  }
}
