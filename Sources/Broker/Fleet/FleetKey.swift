import Records
package import Sealing
import SecretMemory

/// The data key of a fleet: every member unwraps it with the key that its configuration names, and seals records under it.
package struct FleetKey: Sendable {
  /// The name of its row, which no profile can have.
  package static let rowName = ""

  private static let format: UInt8 = 1
  /// How many random bytes name a data key.
  static let idByteCount = 16

  /// Seals and opens the records.
  let seal: VaultSeal

  /// The place that the wrapped key is bound to.
  private static func place(_ fleet: String, _ id: [UInt8]) -> AssociatedData {
    var place = AssociatedData()
    place.append("AuthBroker fleet key 1")
    place.append(fleet)
    place.append(id.span)
    return place
  }

  /// Makes a new one, and wraps it.
  ///
  /// - Returns: the bytes of its row.
  /// - Throws: `SealingError.secretMemoryExhausted`.
  package static func make(fleet: String, under key: SealingKey) throws(SealingError) -> [UInt8] {
    let id = RandomBytes.array(count: idByteCount)
    let dataKey = try SealingKey.random()
    let box = dataKey.secret.withBytes { SealedBox.seal($0, context: place(fleet, id), key: key) }
    return [format] + id + box
  }

  /// The name of the data key in the bytes of its row; nil for those of no key.
  static func id(in bytes: [UInt8]) -> [UInt8]? {
    bytes.count > 1 + idByteCount ? Array(bytes[1..<1 + idByteCount]) : nil
  }

  /// Unwraps the key in its row; the sentence of a failure does not name the fleet.
  ///
  /// - Throws: ``SharedRecordFailure``.
  package static func unwrap(
    _ row: SharedRow?, fleet: String, under key: SealingKey
  ) throws(SharedRecordFailure) -> FleetKey {
    guard let row else { throw SharedRecordFailure("there is no key of the fleet yet; run: authbroker fleet init") }
    do throws(SealingError) {
      return try FleetKey(row.bytes, fleet: fleet, under: key)
    } catch .wrongKey {
      throw SharedRecordFailure("store.key is not the key of the fleet")
    } catch .unsupportedFormat {
      throw SharedRecordFailure("the key of the fleet is of a newer version; update authbroker")
    } catch {
      throw SharedRecordFailure("the key of the fleet cannot be opened: it is damaged")
    }
  }

  /// Unwraps the key in the bytes of its row.
  ///
  /// - Throws: `SealingError.wrongKey` where it was wrapped under another key, `.unsupportedFormat`, `.malformed`,
  ///   `.notAuthentic`, `.secretMemoryExhausted`.
  init(_ bytes: [UInt8], fleet: String, under key: SealingKey) throws(SealingError) {
    guard let id = Self.id(in: bytes) else { throw .malformed }
    guard bytes[0] == Self.format else { throw .unsupportedFormat }
    let box = Array(bytes[(1 + Self.idByteCount)...])
    let dataKey = try SealingKey(SealedBox.open(box.span, context: Self.place(fleet, id), key: key))
    seal = VaultSeal(key: dataKey, vaultID: id)
  }
}
