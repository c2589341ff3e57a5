import BrokerCore
import BrokerProtocol
import Sealing

/// Where a sealed value of the vault belongs: what it was moved from, copied to or rolled back to does not open it.
enum SealedPlace {
  /// The format of the sealed contents that this program writes; kept in each row and bound by its seal.
  static let currentFormat: Int64 = 1

  /// The place of a session's contents.
  static func session(
    _ profile: ProfileName, _ binding: ProviderBinding, generation: Int64, format: Int64, key: SealingKey.ID
  ) -> AssociatedData {
    var place = base(table: "session", column: "sealed", row: profile.description, format: format, key: key)
    place.append(binding.type)
    place.append(binding.issuer)
    place.append(binding.clientID)
    place.append(generation)
    return place
  }

  /// The place of a value of the vault itself.
  static func metadata(_ name: String, key: SealingKey.ID) -> AssociatedData {
    base(table: "metadata", column: "value", row: name, format: currentFormat, key: key)
  }

  private static func base(
    table: String, column: String, row: String, format: Int64, key: SealingKey.ID
  ) -> AssociatedData {
    var place = AssociatedData()
    place.append(format)
    place.append(table)
    place.append(column)
    place.append(row)
    place.append(key.bytes.span)
    return place
  }
}
