import BrokerCore
import BrokerProtocol
import ConfigurationFile
import LinuxSystem
import ProviderKit
import Records
import SecretMemory

/// Reads the passwords of clients from the places that a configuration names, each time that one is needed.
///
/// Files and programs may take their time, so it works on a thread of its own.
actor ClientSecrets {
  /// The time limit of a program: a password manager that asks a person takes longer than a request may; one that does
  /// not needs a second.
  private static let commandTimeout = Duration.seconds(10)

  private nonisolated let worker = WorkerThread(name: "client-secrets")
  /// The process's environment at its start.
  let environment: [String: String]

  /// `environment` is what the process was started with.
  init(environment: [String: String]) {
    self.environment = environment
  }

  /// Starts the thread, so that a machine that has none left shows it before the first secret is needed.
  ///
  /// - Throws: what pthread_create(3) says.
  nonisolated func startThread() throws(Errno) { try worker.start() }

  /// The executor that the actor runs on.
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    // The executor lives as long as the actor, and its thread keeps it alive longer.
    unsafe worker.asUnownedSerialExecutor()
  }

  /// The password, or the failure without it, by which nothing was sent.
  ///
  /// Where the machine had no room for it, or a program took too long, it can be asked for again; otherwise the
  /// configuration has to be fixed.
  func find(_ reference: SecretReference) -> Result<Secret, ProviderFailure> {
    do {
      switch reference {
      case .assertion(let source): return assertion(source)
      case .key(let source): return key(source)
      case .environment(let name):
        guard let value = environment[name], !value.isEmpty else {
          return .failure(.misconfigured(.environmentSecret))
        }
        return .success(try Secret(utf8: value))
      case .file(let path): return .success(try SecretLine.first(of: try contents(of: path)))
      case .command(let command): return .success(try SecretLine.first(of: try output(of: command)))
      }
    } catch {
      return .failure(Self.failure(error))
    }
  }

  /// All that is in a file that only this user and root can read.
  ///
  /// - Throws: `TrustedFile.Refusal`; `KeySourceError`.
  func contents(of path: String, limit: Int? = nil) throws -> Secret {
    // Who can exchange the file chooses the client's password, and so another client.
    try TrustedFile.check(path)
    // The rules for a file with a secret are the same, whatever the secret is for.
    var file = KeySourceSettings(
      keyFilePath: nil, credentialsDirectory: PathName.directory(of: path),
      credentialName: String(path[path.index(after: path.lastIndex(of: "/") ?? path.startIndex)...]))
    if let limit { file.byteLimit = limit }
    return try CredentialFile(file).read()
  }

  /// All that a program prints.
  ///
  /// - Throws: `KeySourceError`.
  func output(of command: [String], limit: Int? = nil) throws -> Secret {
    var settings = KeySourceSettings(
      keyFilePath: nil, command: command, commandTimeout: Self.commandTimeout, environment: environment)
    if let limit { settings.byteLimit = limit }
    return try KeyCommand(settings).run()
  }

  /// The failure for what a source of a secret has thrown.
  static func failure(_ error: any Error) -> ProviderFailure {
    switch error {
    case is SecretMemoryExhausted, KeySourceError.secretMemoryExhausted: .transient(.overloaded)
    case KeySourceError.command(.timedOut): .transient(.timeout)
    case KeySourceError.command(.notStarted(_, let error)) where error.isShortage,
      KeySourceError.credential(.failed(_, let error)) where error.isShortage,
      TrustedFile.Refusal.failed(_, let error) where error.isShortage:
      .transient(.overloaded)
    default: .misconfigured(.secret)
    }
  }

  /// Ends the thread, after the earlier calls: the caller's thread is not blocked until then.
  nonisolated func shutDown() async {
    await finish()
    worker.stop()
  }

  /// Runs behind everything that was asked before.
  private func finish() {}
}
