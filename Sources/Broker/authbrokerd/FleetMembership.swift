import BrokerCore
import BrokerProtocol
import Configuration
import ConfigurationFile
import Fleet
import LinuxSystem
import Logging
import PostgreSQL
import Sealing
import SecretMemory
import TextCoding

/// This broker's part in the fleet that its configuration names: the store of the shared profiles.
///
/// It stays the same for as long as the process runs. Confined to the daemon's actor.
final class FleetMembership {
  private var store: FleetStore?
  private let secrets: ClientSecrets
  private let log: Logger

  /// No part yet.
  init(_ secrets: ClientSecrets, _ log: Logger) {
    self.secrets = secrets
    self.log = log
  }

  /// Gives the shared profiles their store.
  func adopt(_ configuration: BrokerConfiguration, _ profiles: inout [ProfileSettings]) {
    let shared = Set(configuration.sharedProfiles)
    guard let section = configuration.store, !shared.isEmpty else { return }
    let bindings = Dictionary(
      profiles.filter { shared.contains($0.name) }.map { ($0.name, $0.provider.binding) }
    ) { first, _ in first }
    let store = store ?? makeStore(section)
    store.serve(bindings)
    self.store = store
    for index in profiles.indices where shared.contains(profiles[index].name) { profiles[index].records = store }
  }

  private func makeStore(_ section: StoreConfiguration) -> FleetStore {
    let (log, fleet, secrets, reference) = (log, section.fleet, secrets, section.key)
    let key: FleetStore.KeySource = { await Self.key(reference, secrets) }
    let now = { @Sendable in Moment(wall: Timestamp(milliseconds: WallClock.milliseconds), uptime: BootClock.now) }
    return FleetStore(
      Self.record(section, secrets), fleet: fleet, bindings: [:], pollInterval: section.pollInterval, key: key,
      now: now, boot: BootClock.boot
    ) { problem in
      switch problem {
      case .unreachable(let reason):
        log.warning("the fleet cannot be reached", .word("fleet", fleet), .word("reason", reason))
      case .reachable: log.notice("the fleet can be reached again", .word("fleet", fleet))
      case .otherBinding(let profile):
        log.warning(
          "a shared profile has another provider, client or address in the fleet, and is signed out here",
          .word("fleet", fleet), .word("profile", profile.description))
      }
    }
  }

  /// The records of the fleet that a configuration names.
  static func record(_ section: StoreConfiguration, _ secrets: ClientSecrets) -> PostgreSQLRecord {
    let settings = PostgreSQLSettings(connection: section.connection, caFile: section.caFile)
    let reference = section.password
    let database = PostgreSQL(settings) {
      guard let reference else { return .success(nil) }
      return await secrets.find(reference).map { $0 }.mapError { .passwordMissing(reason(of: $0, reference)) }
    }
    return PostgreSQLRecord(database, fleet: section.fleet)
  }

  /// Gets the key that the data key of a fleet is wrapped under: 32 bytes as Base64.
  static func key(
    _ reference: SecretReference, _ secrets: ClientSecrets
  ) async -> Result<SealingKey, SharedRecordFailure> {
    switch await secrets.find(reference) {
    case .failure(let failure): return .failure(SharedRecordFailure(reason(of: failure, reference)))
    case .success(let text):
      var bytes: [UInt8] = text.withBytes { (text: Span<UInt8>) -> [UInt8] in
        // Blanks and ends of lines behind it are no part of it.
        var count = text.count
        while count > 0, text[count - 1] <= UInt8(ascii: " ") { count -= 1 }
        return Base64.decodeAnyForm(text.extracting(first: count)) ?? []
      }
      defer { wipe(&bytes) }
      guard bytes.count == SealingKey.byteCount, let key = try? SealingKey(copying: bytes.span) else {
        return .failure(
          SharedRecordFailure("\(reference.name) is no key of a fleet: \(SealingKey.byteCount) bytes as Base64"))
      }
      return .success(key)
    }
  }

  private static func reason(of failure: ProviderFailure, _ reference: SecretReference) -> String {
    if case .credentialMissing(let credential) = failure { return "\(credential.subject): \(credential.reason)" }
    return "\(reference.name) cannot be read now"
  }

  /// Ends what is open.
  func close() async { await store?.close() }
}
