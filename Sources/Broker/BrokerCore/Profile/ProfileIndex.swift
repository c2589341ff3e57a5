import BrokerProtocol

/// Finds a profile by the bytes of its name, without making a string of them.
///
/// Open addressing in a table that is at most half full; the names lie one behind the other.
struct ProfileIndex: Hashable, Sendable {
  /// The position of a name and one more in each place of the table; 0 for none.
  private var table: [UInt32]
  /// The bytes of all names, in the order of their positions.
  private var bytes: [UInt8] = []
  /// The end of each name in the bytes.
  private var ends: [Int] = []
  /// The position of the profile for requests without a name: the only one, else `default`; nil where there is none.
  private var unnamed: Int?

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
    unnamed = names.count == 1 ? 0 : find(.default)
  }

  /// How many names there are.
  var count: Int { ends.count }

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

  /// The position of the name with these bytes, where it is one of the visible ones.
  func find(_ name: Span<UInt8>, in visible: ProfileMask) -> Int? { visible.includes(name) ? find(name) : nil }

  /// The position of the profile for requests without a name, where these alone are visible.
  func unnamed(in visible: ProfileMask) -> Int? {
    guard let names = visible.names else { return unnamed }
    var only: Int?
    for position in names.ends.indices {
      guard let place = find(names.bytes.span.extracting(names.range(of: position))) else { continue }
      guard only == nil else { return names.find(.default) == nil ? nil : find(.default) }
      only = place
    }
    return only
  }

  /// The positions of the names that are visible.
  func positions(in visible: ProfileMask) -> [Int] {
    guard let names = visible.names else { return Array(ends.indices) }
    return names.ends.indices.compactMap { find(names.bytes.span.extracting(names.range(of: $0))) }.sorted()
  }

  private func range(of position: Int) -> Range<Int> { (position == 0 ? 0 : ends[position - 1])..<ends[position] }

  private func isName(_ name: Span<UInt8>, at position: Int) -> Bool {
    let range = range(of: position)
    guard range.count == name.count else { return false }
    for index in name.indices where name[index] != bytes[range.lowerBound + index] { return false }
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
