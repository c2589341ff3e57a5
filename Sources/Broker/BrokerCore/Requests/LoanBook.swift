import Synchronization

/// The uses of a standing loan, counted without a lock: many connections of a door have it at the same time.
///
/// A use counts only if the loan holds at that moment, and each that counts is taken once.
final class LoanUses: Sendable {
  /// Twice the uses that were not taken yet, and 1 beside for as long as the loan holds: one operation counts and asks.
  private let word = Atomic(1)
  private let last: Atomic<Int64>

  /// No uses yet; the session was used last at an uptime, in milliseconds.
  init(since uptime: Int64) { last = Atomic(uptime) }

  /// Whether the loan holds.
  var isHeld: Bool { word.load(ordering: .acquiring) & 1 == 1 }
  /// When it was used last, in milliseconds of uptime.
  var lastUse: Int64 { last.load(ordering: .relaxed) }

  /// Counts a use; false where the loan has ended.
  func add(at uptime: Int64) -> Bool {
    last.max(uptime, ordering: .relaxed)
    return word.add(2, ordering: .acquiringAndReleasing).oldValue & 1 == 1
  }

  /// Takes the uses since the last time; by one thread at a time, as ``end()``.
  func take() -> Int {
    let count = word.load(ordering: .acquiring) >> 1
    word.subtract(2 * count, ordering: .acquiringAndReleasing)
    return count
  }

  /// Ends the loan, and takes its uses; none count after that.
  func end() -> Int {
    let word = word.exchange(0, ordering: .acquiringAndReleasing)
    return word & 1 == 1 ? word >> 1 : 0
  }
}

/// A loan that holds, with the answer that it rests on.
struct KeptLoan: Sendable {
  /// The loan.
  let loan: StandingLoan
  /// The answer, which is not replaced while the loan holds.
  let answer: CachedAnswer
  /// Its uses.
  let uses: LoanUses

  /// Uses the session once, as ``AnswerCache/answer(profile:for:as:of:minValidity:wall:uptime:)`` does.
  ///
  /// - Returns: false where the loan has ended, its token lives too short, or the broker is to take the use in.
  func use(minValidity: Int64?, wall: Int64, uptime: Int64) -> Bool {
    guard uptime &- uses.lastUse < answer.idleTimeout, uptime < loan.span?.until ?? .max,
      answer.answer(for: minValidity, wall: wall, uptime: uptime) != nil
    else { return false }
    return uses.add(at: uptime)
  }
}

/// The loans that hold, by the numbers of their borrowers.
struct LoanBook {
  /// Uses of the session of the profile at a position.
  struct Uses {
    /// The position.
    let position: Int
    /// How many.
    let count: Int
    /// When the last one was, in milliseconds of uptime.
    let last: Int64
  }

  private var loans: [Int: KeptLoan] = [:]
  private var borrowers = 0
  /// How often all loans have ended.
  private(set) var ends: UInt64 = 0
  /// How often spans of the audit were counted by loans, since that was taken.
  private var counts: [UInt64: Int] = [:]

  /// The loan of a borrower.
  subscript(borrower: Int) -> KeptLoan? { loans[borrower] }

  /// A number for a borrower.
  mutating func addBorrower() -> Int {
    borrowers += 1
    return borrowers
  }

  /// Keeps a loan in place of the one before.
  ///
  /// - Returns: the one before, which has ended, and its uses.
  mutating func keep(_ loan: KeptLoan?, for borrower: Int) -> (before: KeptLoan?, uses: Uses?) {
    let before = loans[borrower]
    loans[borrower] = loan
    return (before, before.flatMap { note($0, $0.uses.end()) })
  }

  /// Ends the loans of the profile at a position, or all.
  mutating func end(at position: Int?) -> (ended: [KeptLoan], uses: [Uses]) {
    if position == nil { ends += 1 }
    let ended = loans.filter { position == nil || $0.value.loan.position == position }
    for borrower in ended.keys { loans[borrower] = nil }
    return (Array(ended.values), ended.values.compactMap { note($0, $0.uses.end()) })
  }

  /// Takes the uses of the loans of the profile at a position, or of all.
  mutating func takeUses(at position: Int? = nil) -> [Uses] {
    loans.values.filter { position == nil || $0.loan.position == position }.compactMap { note($0, $0.uses.take()) }
  }

  /// Takes how often spans of the audit were counted by uses that were taken.
  mutating func takeCounts() -> [UInt64: Int] {
    defer { counts = [:] }
    return counts
  }

  private mutating func note(_ kept: KeptLoan, _ count: Int) -> Uses? {
    guard count > 0 else { return nil }
    if let span = kept.loan.span { counts[span.id, default: 0] += count }
    return Uses(position: kept.loan.position, count: count, last: kept.uses.lastUse)
  }
}
