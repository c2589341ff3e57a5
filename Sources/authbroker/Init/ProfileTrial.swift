import AuthBrokerClient
import BrokerProtocol
import ClientSocket
import LinuxSystem
import StateDirectory

/// Tries a profile before it is written: whether the daemon takes the configuration, and what its provider answers.
///
/// A broker of its own reads the file in a temporary directory; it holds no session, and is gone at the end. Ctrl-C ends
/// it, too.
struct ProfileTrial {
  /// What is wrong with a profile.
  struct Fault: Equatable {
    /// The keys to ask for again, or `client` or `address` for those about either; empty where the message does not say.
    let keys: [String]
    /// What is wrong, and what to do.
    let message: String
    /// What a script sees.
    let exitCode: ExitCode
    /// Whether there was no answer at all: then nothing says that a key is wrong.
    var isUnreachable: Bool { exitCode == .providerUnavailable }
  }

  private static let patience = Duration.seconds(60)

  private let context: Context
  private let edit: ConfigurationEdit

  /// A trial of profiles for a configuration.
  init(_ context: Context, _ edit: ConfigurationEdit) {
    self.context = context
    self.edit = edit
  }

  /// Tries a profile.
  ///
  /// - Returns: what is wrong; nil where nothing is.
  /// - Throws: a failure where it could not be tried, or a signal has come.
  func fault(in draft: ProfileDraft) throws(CommandFailure) -> Fault? {
    let held = try HeldSignals()
    let directory = try temporaryDirectory(draft)
    let path = directory.path
    let verdict = Result { () throws(CommandFailure) in try self.fault(in: draft, path, held) }
    // Until here: it is removed with all that is in it.
    _ = consume directory
    held.release()
    return try verdict.get()
  }

  private func temporaryDirectory(_ draft: ProfileDraft) throws(CommandFailure) -> TemporaryDirectory {
    do throws(Errno) {
      let directory = try TemporaryDirectory(prefix: "authbroker-init")
      let secret = directory.path + "/secret"
      if let typed = draft.typedSecret { try SecretFile.write(typed, to: secret) }
      let file = try FileDescriptor.open(directory.path + "/config.json", [.write, .create, .exclusive])
      try file.writeAll(edit.text(with: draft, secretFile: secret).span)
      return directory
    } catch { throw CommandFailure(.failure, "no temporary directory can be made: \(error)") }
  }

  private func fault(
    in draft: ProfileDraft, _ directory: String, _ held: borrowing HeldSignals
  ) throws(CommandFailure) -> Fault? {
    let paths = try Self.paths(in: directory)
    let verdict = ConfigurationVerdict(context, paths)
    if let refusal = verdict.refusal {
      return Fault(keys: refusal.keys.map(Self.lastName), message: refusal.message, exitCode: .usage)
    }
    guard !context.arguments.has("--no-network"), draft.provider.type != EmbeddedProvider.type else { return nil }
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
    return Self.fault(in: try result.get())
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

  /// What the provider's answers say; warnings are shown, and hinder nothing.
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
