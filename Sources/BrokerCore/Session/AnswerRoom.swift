import SecretMemory

/// Bounds the memory of the rendered answers: past it the oldest are forgotten, and rendered again when they are asked for.
///
/// An answer that was forgotten for another reason counts until its turn comes: that costs a rendering at most.
struct AnswerRoom {
  /// Half of the arena of the sessions: a thousand answers of 2 KiB; the rest is for what cannot be made again.
  static let capacity = SecretArena.defaultCapacity / 2

  /// One rendered answer.
  struct Entry {
    /// Whose it is.
    let slot: SlotID
    /// Which one of all.
    let number: UInt64
    /// How long it is.
    let byteCount: Int
  }

  private var entries: [Entry] = []
  private var first = 0
  private var byteCount = 0
  private var lastNumber: UInt64 = 0

  /// Takes in an answer.
  ///
  /// - Returns: its number, and the answers that give way to it.
  mutating func add(_ answer: Secret, of slot: SlotID) -> (number: UInt64, leaving: [Entry]) {
    lastNumber += 1
    entries.append(Entry(slot: slot, number: lastNumber, byteCount: answer.byteCount))
    byteCount += answer.byteCount
    var leaving: [Entry] = []
    while byteCount > Self.capacity, first < entries.count {
      leaving.append(entries[first])
      byteCount -= entries[first].byteCount
      first += 1
    }
    // Moved together only when half of the array is past: a constant cost for each answer.
    if first > entries.count / 2 {
      entries.removeFirst(first)
      first = 0
    }
    return (lastNumber, leaving)
  }
}
