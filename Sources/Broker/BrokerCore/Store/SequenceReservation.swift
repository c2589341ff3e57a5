/// The sequences that the store has promised never to give again, whatever crash comes.
///
/// They are reserved in blocks, so that an event costs no write of its own for them.
struct SequenceReservation {
  /// How many are reserved at a time.
  static let block: UInt64 = 1 << 20

  /// The last one that is reserved.
  private(set) var through: UInt64 = 0
  private var isUnderWay = false

  /// Begins with what was reserved before the first event.
  mutating func open(through sequence: UInt64) { through = sequence }

  /// Begins to reserve the next block well before the last one is used up.
  ///
  /// - Parameter sequence: the last one that was given.
  /// - Returns: the end of the block that is to be reserved; nil where none is, or one is being reserved.
  mutating func begin(after sequence: UInt64) -> UInt64? {
    guard !isUnderWay, sequence + Self.block / 2 > through else { return nil }
    isUnderWay = true
    return sequence + Self.block
  }

  /// Takes in that a block is reserved; nil means that the store refused, and the next change tries again.
  mutating func finish(through sequence: UInt64?) {
    isUnderWay = false
    through = max(through, sequence ?? 0)
  }
}
