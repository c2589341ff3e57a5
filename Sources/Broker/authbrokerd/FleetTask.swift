import Configuration
import ConfigurationFile
import Fleet
import JSON
import LinuxSystem
import Records
import Sealing
import SecretMemory
import StateDirectory
import TextCoding

/// `--fleet-init`, `--fleet-status`, `--fleet-rekey` and `--fleet-leave`: tasks for a fleet that no broker is asked for.
struct FleetTask {
  /// The task.
  enum Kind: Equatable {
    /// Prepares the database for the first member.
    case prepare
    /// Shows what is in it.
    case show
    /// Changes the data key.
    case rekey
    /// Removes the key of this machine.
    case leave
  }

  /// The command line.
  let arguments: DaemonArguments
  /// The environment of the process.
  let environment: [String: String]
  /// The paths of this machine's broker.
  let paths: StatePaths
  /// The configuration.
  let configuration: BrokerConfiguration
  /// Its section `store`.
  let section: StoreConfiguration
  /// The records of the fleet.
  let record: PostgreSQLRecord
  private let secrets: ClientSecrets

  /// Does it, prints what was done, and ends the process.
  static func run(_ kind: Kind, _ arguments: DaemonArguments, _ environment: [String: String]) -> Never {
    let finished = Semaphore()
    Environment.scrub()
    do throws(StartFailure) {
      do throws(SealingError) { try Sealing.initialize() } catch {
        throw StartFailure(kind: .failed, message: error.description)
      }
      guard let task = try FleetTask(arguments, environment) else {
        if kind == .leave { finish(arguments.isConfirmed ? FleetLeaving.nothing(arguments.wantsJSON) : "") }
        throw StartFailure(kind: .configInvalid, message: "the configuration has no store; add the section store")
      }
      do throws(Errno) { try TaskThread.shared.start() } catch { throw StartFailure(noThread: error) }
      Task(executorPreference: TaskThread.shared) {
        do throws(StartFailure) { finish(try await task.perform(kind)) } catch { refuse(error, arguments) }
      }
    } catch { refuse(error, arguments) }
    // The task ends the process.
    while true { finished.wait() }
  }

  private static func finish(_ output: String) -> Never {
    StandardOutput.write(output)
    ProcessImage.end(0)
  }

  private static func refuse(_ failure: StartFailure, _ arguments: DaemonArguments) -> Never {
    if arguments.wantsJSON { StandardOutput.write(failure.object) }
    StandardError.write("authbroker: \(PlainText.line(failure.message.utf8))\n")
    ProcessImage.end(failure.exitCode)
  }

  /// Reads the configuration; nil where that has no store.
  private init?(_ arguments: DaemonArguments, _ environment: [String: String]) throws(StartFailure) {
    let paths = try StatePaths(arguments, environment)
    let configuration = try ConfigurationSource(paths: paths, environment: environment).read()
    guard let section = configuration.store else { return nil }
    (self.arguments, self.environment, self.paths) = (arguments, environment, paths)
    (self.configuration, self.section) = (configuration, section)
    secrets = ClientSecrets(environment: environment)
    record = FleetMembership.record(section, secrets)
  }

  private func perform(_ kind: Kind) async throws(StartFailure) -> String {
    switch kind {
    case .prepare:
      try makeFirstKey()
      do throws(SharedRecordFailure) { try await prepare() } catch { throw failure(error) }
      return try await status()
    case .show: return try await status()
    case .rekey: return try await rekey()
    case .leave: return try await leave()
    }
  }

  /// The failure of something about the database or its key.
  func failure(_ failure: SharedRecordFailure) -> StartFailure {
    StartFailure(kind: .storeFailed, message: "the fleet \(section.fleet): \(failure.reason)")
  }

  /// The key that `store.key` names.
  func key() async throws(SharedRecordFailure) -> SealingKey {
    try await FleetMembership.key(section.key, secrets).get()
  }

  /// The file that `store.key` names; nil where it comes from elsewhere.
  var keyFile: String? {
    guard case .file(let path) = section.key.place else { return nil }
    return path
  }

  /// The path of the file for a new key; nil where none is wanted.
  var newKeyPath: String? {
    arguments.newKey.map { PathName.absolute($0, in: ProcessIdentity.workingDirectory) }
  }

  /// Writes a new key to a new file, which only its owner can read.
  static func makeKey(at path: String) throws(StartFailure) -> SealingKey {
    do {
      let key = try SealingKey.random()
      var text = key.secret.withBytes { Base64.encode($0, as: .padded) } + [UInt8(ascii: "\n")]
      defer { wipe(&text) }
      try PendingFile(path, text.span).put(replacing: false)
      return key
    } catch let error as Errno where error == .exists {
      throw StartFailure(kind: .failed, message: "\(path) is there already, and is not replaced; leave --new-key out")
    } catch {
      throw StartFailure(kind: .failed, message: "\(path) cannot be written: \(error)")
    }
  }

  private func makeFirstKey() throws(StartFailure) {
    guard let path = newKeyPath else { return }
    if let keyFile, keyFile != path {
      throw StartFailure(
        kind: .configInvalid,
        message: "store.key names the file \(keyFile), and --new-key \(path); give the same file, nothing was written")
    }
    _ = try Self.makeKey(at: path)
  }

  /// Makes the table and the data key, unless they are there.
  private func prepare() async throws(SharedRecordFailure) {
    let key = try await key()
    try await record.prepare()
    guard try await record.read(FleetKey.rowName).rows[FleetKey.rowName] == nil else { return }
    let bytes: [UInt8]
    do throws(SealingError) { bytes = try FleetKey.make(fleet: section.fleet, under: key) } catch {
      throw SharedRecordFailure(error.description)
    }
    // Another member may have been first: then its key counts.
    _ = try await record.write(bytes, as: FleetKey.rowName, from: nil, to: 1)
  }

  /// An object as a line for programs.
  static func line(_ body: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter()
    writer.object(body)
    return String(decoding: InvisibleCharacters.escaped(in: writer.bytes), as: UTF8.self) + "\n"
  }
}
