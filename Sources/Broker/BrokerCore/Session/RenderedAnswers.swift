import SecretMemory

/// Bounds the memory of the rendered answers: past it the oldest are forgotten, and rendered again when they are asked
/// for.
///
/// An answer that was forgotten for another reason counts until its turn comes: that costs a rendering at most.
struct AnswerRoom {
  /// Half of the arena of the sessions, measured in the blocks that answers take: a thousand of 2 KiB each; the rest is
  /// for what cannot be made again.
  static let capacity = SecretArena.defaultCapacity / 2

  /// One rendered answer.
  struct Entry {
    /// The profile's stay that it belongs to.
    let slot: SlotID
    /// Its number, unique among all entries.
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

/// The answers with a profile's tokens that are rendered already.
struct RenderedAnswers {
  /// The answer that is in the cache, for callers that do not come by way of the cache.
  private(set) var current: Secret?
  /// The answer for callers that want the token to live for longer than can be relied on.
  private(set) var capped: Secret?
  /// The numbers of the rendered answers, see ``AnswerRoom``.
  private var numbers: [UInt64] = []
  private var other: (token: OtherToken, marks: TokenMarks, json: Secret)?

  /// Whether there is no answer with the session's own token.
  var isEmpty: Bool { current == nil && capped == nil }

  /// The answer with the session's own token.
  func answer(_ marks: TokenMarks) -> Secret? { marks.isCapped ? capped : current }

  /// Keeps an answer with the session's own token.
  mutating func keep(_ json: Secret, number: UInt64, _ marks: TokenMarks) {
    if marks.isCapped { capped = json } else { current = json }
    numbers.append(number)
  }

  /// Whether one of the answers has such a number.
  func has(_ number: UInt64) -> Bool { numbers.contains(number) }

  /// Forgets the answers with the session's own token.
  mutating func forget() {
    current = nil
    capped = nil
    numbers = []
  }

  /// The answer with a token for another target; nil where another one was rendered last.
  func answer(with token: OtherToken, _ marks: TokenMarks) -> Secret? {
    guard let other, other.token == token, other.marks == marks else { return nil }
    return other.json
  }

  /// Keeps the answer with a token for another target while one decision of the machine is carried out: a hundred callers
  /// who wait for the same token need one rendering.
  mutating func keep(_ json: Secret, with token: OtherToken, _ marks: TokenMarks) { other = (token, marks, json) }

  /// Forgets the answer with a token for another target.
  mutating func forgetOther() { other = nil }
}
