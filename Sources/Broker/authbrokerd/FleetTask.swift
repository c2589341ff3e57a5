import BrokerProtocol
import Configuration
import Fleet
import JSON
import LinuxSystem
import PostgreSQL
import Records
import Sealing
import SecretMemory
import StateDirectory
import TextCoding

/// `--fleet-init` and `--fleet-status`: prepares the database of a fleet for its members, and shows what is in it.
enum FleetTask {
  /// Does it, prints one line, and ends the process.
  static func run(_ arguments: DaemonArguments, _ environment: [String: String], newKey: String?) -> Never {
    let finished = Semaphore()
    do throws(StartFailure) {
      do throws(SealingError) { try Sealing.initialize() } catch {
        throw StartFailure(kind: .failed, message: error.description)
      }
      let configuration = try configuration(arguments, environment)
      guard let section = configuration.store else {
        throw StartFailure(kind: .configInvalid, message: "the configuration has no store; add the section store")
      }
      if let newKey { try makeKey(at: newKey) }
      do throws(Errno) { try TaskThread.shared.start() } catch { throw StartFailure(noThread: error) }
      Task(executorPreference: TaskThread.shared) {
        let secrets = ClientSecrets(environment: environment)
        let record = FleetMembership.record(section, secrets)
        do throws(SharedRecordFailure) {
          if case .prepareFleet = arguments.mode { try await prepare(section, record, secrets) }
          try await show(configuration, section, record, secrets, arguments.wantsJSON)
          ProcessImage.end(0)
        } catch {
          refuse(StartFailure(kind: .storeFailed, message: "the fleet \(section.fleet): \(error.reason)"), arguments)
        }
      }
    } catch { refuse(error, arguments) }
    // The task ends the process.
    while true { finished.wait() }
  }

  private static func refuse(_ failure: StartFailure, _ arguments: DaemonArguments) -> Never {
    if arguments.wantsJSON { StandardOutput.write(failure.object) }
    StandardError.write("authbroker: \(PlainText.line(failure.message.utf8))\n")
    ProcessImage.end(failure.exitCode)
  }

  private static func configuration(
    _ arguments: DaemonArguments, _ environment: [String: String]
  ) throws(StartFailure) -> BrokerConfiguration {
    try ConfigurationSource(paths: StatePaths(arguments, environment), environment: environment).read()
  }

  /// Writes a new key to a new file, which only its owner can read.
  private static func makeKey(at path: String) throws(StartFailure) {
    do {
      let key = try SealingKey.random()
      var text = key.secret.withBytes { Base64.encode($0, as: .padded) } + [UInt8(ascii: "\n")]
      defer { wipe(&text) }
      let file = try FileDescriptor.open(path, [.write, .create, .exclusive, .noFollow])
      try file.writeAll(text.span)
      try file.synchronize()
    } catch let error as Errno where error == .exists {
      throw StartFailure(kind: .failed, message: "\(path) is there already, and is not replaced; leave --new-key out")
    } catch {
      throw StartFailure(kind: .failed, message: "\(path) cannot be written: \(error)")
    }
  }

  /// Makes the table and the data key, unless they are there.
  private static func prepare(
    _ section: StoreConfiguration, _ record: PostgreSQLRecord, _ secrets: ClientSecrets
  ) async throws(SharedRecordFailure) {
    let key = try await FleetMembership.key(section.key, secrets).get()
    try await record.prepare()
    guard try await record.read(FleetKey.rowName).rows[FleetKey.rowName] == nil else { return }
    let bytes: [UInt8]
    do throws(SealingError) { bytes = try FleetKey.make(fleet: section.fleet, under: key) } catch {
      throw SharedRecordFailure(error.description)
    }
    // Another member may have been first: then its key counts.
    _ = try await record.write(bytes, as: FleetKey.rowName, from: nil, to: 1)
  }

  /// Prints what is there, for a key that opens it.
  private static func show(
    _ configuration: BrokerConfiguration, _ section: StoreConfiguration, _ record: PostgreSQLRecord,
    _ secrets: ClientSecrets, _ wantsJSON: Bool
  ) async throws(SharedRecordFailure) {
    let key = try await FleetMembership.key(section.key, secrets).get()
    let rows = try await record.read().rows
    guard let row = rows[FleetKey.rowName] else {
      throw SharedRecordFailure("it has no key yet; authbroker fleet init makes one")
    }
    do throws(SealingError) { _ = try FleetKey(row.bytes, fleet: section.fleet, under: key) } catch {
      throw SharedRecordFailure(error == .wrongKey ? "store.key is not its key" : error.description)
    }
    let names = rows.keys.filter { $0 != FleetKey.rowName }.sorted()
    let shared = configuration.sharedProfiles.map(\.description)
    guard wantsJSON else {
      let list = names.isEmpty ? "no sessions yet" : "sessions of \(names.joined(separator: ", "))"
      let here = shared.isEmpty ? "no profile here is shared" : "shared here: \(shared.joined(separator: ", "))"
      return StandardOutput.write("the fleet \(section.fleet) is ready: \(list); \(here)\n")
    }
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("fleet", section.fleet)
      writer.member("profiles", shared)
      writer.key("records")
      writer.array { writer in
        for name in names {
          writer.object { writer in
            writer.member("profile", name)
            writer.member("version", Int(rows[name]?.version ?? 0))
          }
        }
      }
    }
    StandardOutput.write(String(decoding: InvisibleCharacters.escaped(in: writer.bytes), as: UTF8.self) + "\n")
  }
}
