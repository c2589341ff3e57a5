import BrokerCore
import Sealing

/// Where a sealed value of the vault belongs: what it was moved from, copied to or rolled back to does not open it.
struct SealedPlace {
  /// The format of the sealed contents that this program writes; bound by each seal, and kept in each row that has
  /// contents of its own.
  static let currentFormat: Int64 = 2

  /// The table.
  let table: String
  /// The row's name in it.
  let row: String
  /// The format of what is sealed.
  var format = currentFormat
  /// The provider that the row belongs to.
  var binding: ProviderBinding?
  /// What else the row says in the clear: generations, sequences, times.
  var numbers: [Int64] = []

  /// All of it, with the vault and the key, in the order that is part of the format.
  func associatedData(vaultID: [UInt8], key: SealingKey.ID) -> AssociatedData {
    var place = AssociatedData()
    place.append(format)
    place.append(vaultID.span)
    place.append(key.bytes.span)
    place.append(table)
    // The one column of each table that is sealed.
    place.append("sealed")
    place.append(row)
    if let binding {
      place.append(binding.type)
      place.append(binding.issuer)
      place.append(binding.clientID)
    }
    for number in numbers { place.append(number) }
    return place
  }
}
