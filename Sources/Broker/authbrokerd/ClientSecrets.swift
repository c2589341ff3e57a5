import BrokerCore
import BrokerProtocol
import ConfigurationFile
import LinuxSystem
import ProviderKit
import Records
import SecretMemory
import Synchronization

/// Reads the passwords of clients from the places that a configuration names, each time that one is needed.
///
/// Files and programs may take their time, so each is read on a thread of its own: a program that hangs holds up only
/// what needs the same secret.
final class ClientSecrets: Sendable {
  /// The time limit of a program: a password manager that asks a person takes longer than a request may; one that does
  /// not needs a second.
  private static let commandTimeout = Duration.seconds(10)
  /// The most programs at once, each a process of some MiB: as many as may wait for one password manager that is locked,
  /// before the secrets of others wait for them.
  private static let programLimit = 16
  /// The most files that are read at once beside them, of which a dead network may hold some.
  private static let fileLimit = 4

  /// The most bytes of what a password is the first line of: as many as of every secret that is retrieved.
  private static let passwordLimit = KeySourceSettings(keyFilePath: nil, environment: [:]).byteLimit
  /// The most bytes of a private key in PEM: more than the longest RSA key has, with certificates before it.
  private static let longestKey = 65536

  private let reads = BlockingCalls<SecretReference.Place>(
    name: "client-secrets", limit: programLimit + fileLimit, longLimit: programLimit)
  private let isEnding = Atomic(false)
  /// The process's environment at its start.
  let environment: [String: String]

  /// `environment` is what the process was started with.
  init(environment: [String: String]) {
    self.environment = environment
  }

  /// Starts a thread, so that a machine that has none left shows it before the first secret is needed.
  ///
  /// - Throws: what pthread_create(3) says.
  func startThread() throws(Errno) { try reads.start() }

  /// The secret, or the failure without it, by which nothing was sent.
  func find(_ reference: SecretReference) async -> Result<Secret, ProviderFailure> {
    await reads.run(reference.place, isLong: reference.place.isProgram) { [self] in
      guard !isEnding.load(ordering: .relaxed) else { return .failure(.transient(.shuttingDown)) }
      return Result { try read(reference) }.mapError { Self.failure($0, reference) }
    }
  }

  private func read(_ reference: SecretReference) throws -> Secret {
    let limit = Self.byteLimit(of: reference.part)
    let found: Secret
    switch reference.place {
    case .environment(let name):
      guard let value = environment[name], !value.isEmpty else { throw MissingVariable() }
      return try Secret(utf8: value)
    case .file(let path):
      found = reference.part == .assertion ? try AssertionFile(path).read() : try contents(of: path, limit)
    case .command(let command): found = try output(of: command, limit)
    }
    return reference.part == .whole ? found : try SecretLine.first(of: found)
  }

  /// The most bytes of a secret.
  static func byteLimit(of part: SecretReference.Part) -> Int {
    switch part {
    case .line: passwordLimit
    case .assertion: AssertionFile.byteLimit
    case .whole: longestKey
    }
  }

  /// All that is in a file that only this user and root can read.
  private func contents(of path: String, _ limit: Int) throws -> Secret {
    // Who can exchange the file chooses the client's password, and so another client.
    try TrustedFile.check(path)
    // The rules for a file with a secret are the same, whatever the secret is for.
    var file = KeySourceSettings(
      keyFilePath: nil, credentialsDirectory: PathName.directory(of: path),
      credentialName: String(path[path.index(after: path.lastIndex(of: "/") ?? path.startIndex)...]))
    file.byteLimit = limit
    return try CredentialFile(file).read()
  }

  /// All that a program prints.
  private func output(of command: [String], _ limit: Int) throws -> Secret {
    var settings = KeySourceSettings(
      keyFilePath: nil, command: command, commandTimeout: Self.commandTimeout, environment: environment)
    settings.byteLimit = limit
    return try KeyCommand(settings).run()
  }

  /// Ends the programs that run, and the threads behind them; no secret is read any more.
  func shutDown() async {
    isEnding.store(true, ordering: .relaxed)
    ChildProcess.endGroups()
    await reads.stop()
  }
}
