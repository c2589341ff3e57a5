import BrokerProtocol

/// Finds a profile by the bytes of its name, without making a string of them.
///
/// Open addressing in a table that is at most half full; the names lie one behind the other.
struct ProfileIndex: Sendable {
  /// In each place of the table, the position of a name and one more; 0 for none.
  private var table: [UInt32]
  /// The bytes of all names, in the order of their positions.
  private var bytes: [UInt8] = []
  /// Where each name ends among them.
  private var ends: [Int] = []

  /// An index of nothing.
  init() { self.init([]) }

  /// An index of names by their positions.
  init(_ names: [ProfileName]) {
    var size = 8
    while size < names.count * 2 { size *= 2 }
    table = Array(repeating: 0, count: size)
    ends.reserveCapacity(names.count)
    for (position, name) in names.enumerated() {
      let utf8 = name.description.utf8
      var place = Self.hash(utf8.span) & (size - 1)
      while table[place] != 0 { place = (place + 1) & (size - 1) }
      table[place] = UInt32(position) + 1
      bytes += utf8
      ends.append(bytes.count)
    }
  }

  /// The position of a name.
  func find(_ name: ProfileName) -> Int? {
    let utf8 = name.description.utf8
    return find(utf8.span)
  }

  /// The position of the name with these bytes: the first one, should there be several.
  func find(_ name: Span<UInt8>) -> Int? {
    var place = Self.hash(name) & (table.count - 1)
    while table[place] != 0 {
      let position = Int(table[place]) - 1
      if isName(name, at: position) { return position }
      place = (place + 1) & (table.count - 1)
    }
    return nil
  }

  private func isName(_ name: Span<UInt8>, at position: Int) -> Bool {
    let start = position == 0 ? 0 : ends[position - 1]
    guard ends[position] - start == name.count else { return false }
    for index in name.indices where name[index] != bytes[start + index] { return false }
    return true
  }

  /// FNV-1a.
  ///
  /// The names come from the configuration, so they are not chosen to collide.
  private static func hash(_ bytes: Span<UInt8>) -> Int {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for position in bytes.indices { hash = (hash ^ UInt64(bytes[position])) &* 0x100_0000_01b3 }
    return Int(truncatingIfNeeded: hash & 0x7FFF_FFFF)
  }
}
