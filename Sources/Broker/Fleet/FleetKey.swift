import Records
package import Sealing
import SecretMemory

/// The data key of a fleet: every member unwraps it with the key that its configuration names, and seals records under it.
package struct FleetKey: Sendable {
  /// The name of its row, which no profile can have.
  package static let rowName = ""

  private static let format: UInt8 = 1
  private static let idByteCount = 16

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

  /// Unwraps the key in the bytes of its row.
  ///
  /// - Throws: `SealingError.wrongKey` where it was wrapped under another key, `.unsupportedFormat`, `.malformed`,
  ///   `.notAuthentic`, `.secretMemoryExhausted`.
  package init(_ bytes: [UInt8], fleet: String, under key: SealingKey) throws(SealingError) {
    guard bytes.count > 1 + Self.idByteCount else { throw .malformed }
    guard bytes[0] == Self.format else { throw .unsupportedFormat }
    let id = Array(bytes[1..<1 + Self.idByteCount])
    let box = Array(bytes[(1 + Self.idByteCount)...])
    let dataKey = try SealingKey(SealedBox.open(box.span, context: Self.place(fleet, id), key: key))
    seal = VaultSeal(key: dataKey, vaultID: id)
  }
}
