package import BrokerCore
package import BrokerProtocol
import SecretMemory

extension Vault: SessionStore {
  /// Opens every record; those that do not open are named, and keep none of the others back.
  ///
  /// - Throws: `StoreFailure.tampered` without a profile when a value of the vault itself does not open, `.failed`.
  package func load() async throws(StoreFailure) -> StoreContents {
    do throws(VaultError) {
      var contents = StoreContents(records: [], lastSequence: try lastSequence())
      for entry in try SessionTable(connection: open(), key: key).entries() {
        switch entry {
        case .record(let record): contents.records.append(record)
        case .tampered(let profile): contents.tampered.append(profile)
        case .nameless: continue
        }
      }
      return contents
    } catch { throw StoreFailure(error) }
  }

  /// Seals records and writes them durably.
  ///
  /// - Throws: `StoreFailure.superseded`, `.failed`.
  package func commit(_ steps: [StoreStep]) async throws(StoreFailure) {
    for case .record(let record) in steps {
      let isWritten: Bool
      do throws(VaultError) {
        isWritten = try SessionTable(connection: open(), key: key).save(record, at: now())
      } catch { throw StoreFailure(error) }
      guard isWritten else { throw .superseded }
    }
  }

  /// There are none yet.
  package func events(after sequence: UInt64, through last: UInt64) async throws(StoreFailure) -> [BrokerEvent] { [] }

  /// Writes a sequence durably, unless a later one is there.
  ///
  /// - Throws: `StoreFailure.tampered` without a profile, `.failed`.
  package func reserveSequences(through sequence: UInt64) async throws(StoreFailure) {
    do throws(VaultError) {
      guard try sequence > lastSequence() else { return }
      let bytes = (0..<8).reversed().map { UInt8(truncatingIfNeeded: sequence >> (8 * UInt64($0))) }
      try MetadataTable(connection: open(), key: key).set(.sequence, to: bytes.span)
      reservedSequence = sequence
    } catch { throw StoreFailure(error) }
  }

  private func lastSequence() throws(VaultError) -> UInt64 {
    let connection = try open()
    if let reservedSequence { return reservedSequence }
    guard let value = try MetadataTable(connection: connection, key: key).value(.sequence) else { return 0 }
    guard value.byteCount == 8 else { throw .damaged(part: MetadataTable.Name.sequence.rawValue) }
    let sequence = value.withBytes { bytes in bytes.indices.reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[$1]) } }
    reservedSequence = sequence
    return sequence
  }
}
