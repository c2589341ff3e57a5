import SecretMemory

/// Bounds the memory of the rendered answers: past it the oldest are forgotten, and rendered again when they are asked for.
///
/// An answer that was forgotten for another reason counts until its turn comes: that costs a rendering at most.
struct AnswerRoom {
  /// Half of the arena of the sessions, measured in the blocks that answers take: a thousand of 2 KiB each; the rest is
  /// for what cannot be made again.
  static let capacity = SecretArena.defaultCapacity / 2

  /// One rendered answer.
  struct Entry {
    /// Whose it is.
    let slot: SlotID
    /// Which one of all.
    let number: UInt64
    /// How much of the arena it takes.
    let byteCount: Int
  }

  private var entries: [Entry] = []
  private var first = 0
  private var byteCount = 0
  private var lastNumber: UInt64 = 0

  /// Forgets all answers, as what cannot be made again needs their room.
  ///
  /// - Returns: the answers.
  mutating func clear() -> [Entry] {
    defer {
      entries = []
      first = 0
      byteCount = 0
    }
    return Array(entries[first...])
  }

  /// Takes in an answer.
  ///
  /// - Returns: its number, and the answers that give way to it.
  mutating func add(_ answer: Secret, of slot: SlotID) -> (number: UInt64, evicted: [Entry]) {
    lastNumber += 1
    entries.append(Entry(slot: slot, number: lastNumber, byteCount: answer.blockByteCount))
    byteCount += answer.blockByteCount
    var evicted: [Entry] = []
    while byteCount > Self.capacity, first < entries.count {
      evicted.append(entries[first])
      byteCount -= entries[first].byteCount
      first += 1
    }
    // Moved together only when half of the array is past: a constant cost for each answer.
    if first > entries.count / 2 {
      entries.removeFirst(first)
      first = 0
    }
    return (lastNumber, evicted)
  }
}
