import AuthBrokerClient
import BrokerProtocol
import ClientSocket
import LinuxSystem
import StateDirectory

/// Tries a profile before it is written: whether the daemon accepts the configuration, and whether its provider
/// answers.
///
/// A broker of its own reads the file in a temporary directory; it holds no session, and is gone at the end. Ctrl-C
/// ends it, too.
struct ProfileTrial {
  /// A fault of a profile.
  struct Fault: Equatable {
    /// The keys to ask for again, or `client` or `address` for those about either; empty where the message does not say.
    let keys: [String]
    /// The fault and its remedy.
    let message: String
    /// The exit code.
    let exitCode: ExitCode
    /// Whether there was no answer at all: then nothing says that a key is wrong.
    var isUnreachable: Bool { exitCode == .providerUnavailable }
  }

  /// The outcome of a trial.
  struct Outcome {
    /// The fault; nil where there is none.
    var fault: Fault?
    /// The scopes that the provider announces and the profile does not ask for, of those that people want.
    var scopes: [String] = []
  }

  private static let patience = Duration.seconds(60)
  /// The findings that name a scope which is announced and not asked for.
  private static let scopes = [
    ("scopes.profile", "profile"), ("scopes.email", "email"), ("scopes.offline", "offline_access"),
  ]

  private let context: Context
  private let edit: ConfigurationEdit

  /// A trial of profiles for a configuration.
  init(_ context: Context, _ edit: ConfigurationEdit) {
    self.context = context
    self.edit = edit
  }

  /// Tries a profile.
  ///
  /// - Returns: what came of it.
  /// - Throws: a failure where it could not be tried, or a signal has come.
  func outcome(of draft: ProfileDraft) throws(CommandFailure) -> Outcome {
    let held = try HeldSignals()
    let directory = try temporaryDirectory(draft)
    let path = directory.path
    let outcome = Result { () throws(CommandFailure) in try self.outcome(of: draft, path, held) }
    // Until here: it is removed with all that is in it.
    _ = consume directory
    held.release()
    return try outcome.get()
  }

  private func temporaryDirectory(_ draft: ProfileDraft) throws(CommandFailure) -> TemporaryDirectory {
    do throws(Errno) {
      let directory = try TemporaryDirectory(prefix: "authbroker-init")
      let secret = directory.path + "/secret"
      if let typed = draft.typedSecret { try SecretFile.write(typed, to: secret) }
      let file = try FileDescriptor.open(directory.path + "/config.json", [.write, .create, .exclusive, .noFollow])
      try file.writeAll(edit.text(with: draft, secretFile: secret).span)
      return directory
    } catch { throw CommandFailure(.failure, "no temporary directory can be made: \(error)") }
  }

  private func outcome(
    of draft: ProfileDraft, _ directory: String, _ held: borrowing HeldSignals
  ) throws(CommandFailure) -> Outcome {
    let paths = try Self.paths(in: directory)
    let verdict = ConfigurationVerdict(context, paths)
    if let refusal = verdict.refusal {
      return Outcome(
        fault: Fault(keys: refusal.keys.map(Self.lastName), message: refusal.message, exitCode: .usage))
    }
    guard !context.arguments.has("--no-network"), draft.provider.type != EmbeddedProvider.type else { return Outcome() }
    let environment = context.environment.without("AUTHBROKER_SOCKET")
    let connector = BrokerConnector(
      paths: paths, environment: environment, launcher: OwnerLauncher(environment: environment))
    var connection: BlockingConnection
    do throws(ConnectError) { connection = BlockingConnection(try connector.connect()) } catch {
      throw CommandFailure(error)
    }
    let result = Result { () throws(CommandFailure) in try check(draft.name, &connection, held) }
    if (try? connection.request(StopBroker.self, .init(), timeout: Self.patience)) != nil {
      try? connection.awaitEnd(timeout: Self.patience)
    }
    let answer = try result.get()
    let found = Set(answer.findings.map { $0.check })
    return Outcome(fault: Self.fault(in: answer), scopes: Self.scopes.filter { found.contains($0.0) }.map { $0.1 })
  }

  private func check(
    _ name: ProfileName, _ connection: inout BlockingConnection, _ held: borrowing HeldSignals
  ) throws(CommandFailure) -> CheckProvider.Result {
    do throws(ClientError) {
      let id = try connection.begin(CheckProvider.self, .init(profile: name))
      return try connection.answer(
        to: id, as: CheckProvider.self, timeout: Self.patience, unless: held.pending.descriptor)
    } catch {
      guard error == .cancelled, let signal = held.next() else { throw context.failure(error) }
      var failure = CommandFailure(.failure, "nothing was written")
      failure.signal = signal
      throw failure
    }
  }

  /// The kinds of failure in which there was no answer; a provider that refuses the client has answered.
  private static let unreachable: Set<ErrorKind> = [
    .networkUnavailable, .timeout, .providerUnavailable, .rateLimited, .tlsFailed, .tlsPinMismatch,
  ]

  /// The fault that the provider's answers show; warnings are shown, and hinder nothing.
  private static func fault(in check: CheckProvider.Result) -> Fault? {
    let failures = check.findings.filter { $0.level == .failure }
    guard !failures.isEmpty else { return nil }
    let sentences = failures.map { finding in
      BrokerSentence.plain(finding.message) + (finding.advice.map { "; " + BrokerSentence.plain($0) } ?? "")
    }
    let isUnreachable = failures.contains { $0.errorKind.map(unreachable.contains) ?? false }
    let way = isUnreachable ? "\nto write the profile without asking the provider, use --no-network" : ""
    return Fault(
      keys: [failures[0].check == "client" ? "client" : "address"], message: sentences.joined(separator: "\n") + way,
      exitCode: isUnreachable ? .providerUnavailable : .failure)
  }

  /// The last key of a path, as in `profiles.work.issuer`.
  private static func lastName(_ path: String) -> String { path.split(separator: ".").last.map(String.init) ?? path }

  private static func paths(in directory: String) throws(CommandFailure) -> StatePaths {
    let options = StatePaths.Options(state: directory + "/state", configuration: directory + "/config.json")
    do throws(StatePaths.Refusal) {
      return try StatePaths(options, environment: [:], workingDirectory: "/")
    } catch { throw CommandFailure(.failure, error.description) }
  }
}
