package import BrokerCore
import Sealing

/// The place that a sealed value is bound to: a value that was moved or copied to another place, or rolled back, does
/// not open.
package struct SealedPlace {
  /// The format in which this program writes sealed contents; bound by each seal, and kept in each row that has
  /// contents of its own.
  package static let currentFormat: Int64 = 2

  /// The table.
  package let table: String
  /// The row's name in it.
  package let row: String
  /// The format of the sealed contents.
  package var format: Int64
  /// The provider that the row belongs to.
  package var binding: ProviderBinding?
  /// The row's other cleartext columns: generations, sequences, times.
  package var numbers: [Int64]

  /// A row's place.
  package init(
    table: String, row: String, format: Int64 = currentFormat, binding: ProviderBinding? = nil, numbers: [Int64] = []
  ) {
    self.table = table
    self.row = row
    self.format = format
    self.binding = binding
    self.numbers = numbers
  }

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
