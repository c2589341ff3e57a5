import BrokerProtocol

/// Finds a profile by the bytes of its name, without making a string of them.
struct ProfileIndex: Sendable {
  private var buckets: [[(name: [UInt8], position: Int)]]

  /// An index of nothing.
  init() { self.init([]) }

  /// An index of names by their positions.
  init(_ names: [ProfileName]) {
    var size = 8
    while size < names.count * 2 { size *= 2 }
    buckets = Array(repeating: [], count: size)
    for (position, name) in names.enumerated() {
      let bytes = Array(name.description.utf8)
      buckets[Self.hash(bytes.span) & (size - 1)].append((bytes, position))
    }
  }

  /// The position of a name.
  func find(_ name: ProfileName) -> Int? {
    let bytes = Array(name.description.utf8)
    return find(bytes.span)
  }

  /// The position of the name with these bytes.
  func find(_ bytes: Span<UInt8>) -> Int? {
    let bucket = Self.hash(bytes) & (buckets.count - 1)
    for entry in buckets[bucket] where entry.name.count == bytes.count {
      if bytes.indices.allSatisfy({ bytes[$0] == entry.name[$0] }) { return entry.position }
    }
    return nil
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
