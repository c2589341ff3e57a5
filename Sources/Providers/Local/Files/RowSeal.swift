import Sealing
import SecretMemory

/// Seals secrets for one row of the provider's database each, with a key that the broker's vault gives.
///
/// A copy of the database without that key reveals none of them, and a box that was moved to another row does not open.
struct RowSeal {
  /// Seals and opens the boxes.
  let key: SealingKey

  /// Seals bytes.
  ///
  /// - Parameters:
  ///   - plaintext: what the box is to hold; stays the caller's to wipe.
  ///   - table: the table that the box is stored in.
  ///   - row: the key of its row.
  /// - Returns: the box.
  func seal(_ plaintext: Span<UInt8>, table: String, row: String) -> [UInt8] {
    SealedBox.seal(plaintext, context: Self.place(table, row), key: key)
  }

  /// Seals a secret, as the other form does.
  func seal(_ secret: Secret, table: String, row: String) -> [UInt8] {
    secret.withBytes { seal($0, table: table, row: row) }
  }

  /// Opens the box of a row.
  ///
  /// - Throws: `LocalStoreFault.keys` where it is damaged, was moved, or was sealed with another key;
  ///   `SecretMemoryExhausted`.
  func open(_ box: Span<UInt8>, table: String, row: String) throws -> Secret {
    do throws(SealingError) {
      return try SealedBox.open(box, context: Self.place(table, row), key: key)
    } catch {
      if error == .secretMemoryExhausted { throw SecretMemoryExhausted() }
      throw LocalStoreFault.keys
    }
  }

  private static func place(_ table: String, _ row: String) -> AssociatedData {
    var place = AssociatedData()
    place.append("local-provider")
    place.append(table)
    place.append(row)
    return place
  }
}
