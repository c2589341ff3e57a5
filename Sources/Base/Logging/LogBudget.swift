/// Decides which lines of a flood are written, so that no client can fill a disk or push everything else out of a log
/// that is bounded.
///
/// A value: it writes nothing and reads no clock.
struct LogBudget {
  /// The decision about a line.
  enum Verdict: Equatable {
    /// It is written, behind the number of lines of its kind that were dropped before it.
    case write(dropped: Int)
    /// It is dropped and counted.
    case drop
  }

  /// A message that comes more often than this in a minute says nothing new; lines for developers are exempt.
  static let linesPerMinute = 60
  /// The most bytes at once: as much as the log of an owner on demand holds in one file.
  static let burstBytes = 1 << 20
  /// The most bytes a second for long: 2.8 GB a day, a hundred times what a busy broker writes at the level `debug`.
  static let bytesPerSecond = 32 << 10

  /// The bytes that `debug` lines leave to the others, of which one may say why everything stands still.
  static let reservedBytes = 256 << 10

  private static let minute = Duration.seconds(60)
  private static let nanosecondsPerSecond: Int64 = 1_000_000_000

  private struct Kind {
    var minuteEnd: Duration
    var lines = 0
    var dropped = 0
  }

  /// By message: these are literals of the program, so there are few.
  private var kinds: [String: Kind] = [:]
  private var bytes = LogBudget.burstBytes
  private var filledAt = Duration.zero

  /// Counts a line.
  ///
  /// - Parameters:
  ///   - message: the constant part of the line.
  ///   - byteCount: the length of the whole line.
  ///   - isExempt: whether the message may come as often as it likes, within the bytes that are not kept for others.
  ///   - now: the uptime.
  /// - Returns: what becomes of it.
  mutating func count(_ message: String, byteCount: Int, isExempt: Bool, at now: Duration) -> Verdict {
    refill(now)
    var kind = kinds[message] ?? Kind(minuteEnd: now + Self.minute)
    defer { kinds[message] = kind }
    if now >= kind.minuteEnd {
      kind.minuteEnd = now + Self.minute
      kind.lines = 0
    }
    guard byteCount <= bytes - (isExempt ? Self.reservedBytes : 0), isExempt || kind.lines < Self.linesPerMinute else {
      kind.dropped += 1
      return .drop
    }
    kind.lines += 1
    bytes -= byteCount
    defer { kind.dropped = 0 }
    return .write(dropped: kind.dropped)
  }

  /// The messages whose lines were dropped without a report, with their number; they count as reported from here on.
  mutating func takeDropped() -> [(message: String, count: Int)] {
    let dropped = kinds.filter { $0.value.dropped > 0 }.map { (message: $0.key, count: $0.value.dropped) }
    for (message, _) in dropped { kinds[message]?.dropped = 0 }
    return dropped.sorted { $0.message < $1.message }
  }

  private mutating func refill(_ now: Duration) {
    let elapsed = max(now - filledAt, .zero)
    // Longer than it takes to fill: and so no large number is ever multiplied.
    guard elapsed < .seconds(Self.burstBytes / Self.bytesPerSecond) else {
      bytes = Self.burstBytes
      filledAt = now
      return
    }
    let (seconds, attoseconds) = elapsed.components
    let nanoseconds = seconds * Self.nanosecondsPerSecond + attoseconds / Self.nanosecondsPerSecond
    let fresh = nanoseconds * Int64(Self.bytesPerSecond) / Self.nanosecondsPerSecond
    bytes = min(Self.burstBytes, bytes + Int(fresh))
    // Only the time that has given a byte is used up: a flood whose lines come in less would get nothing else.
    filledAt += .nanoseconds(fresh * Self.nanosecondsPerSecond / Int64(Self.bytesPerSecond))
  }
}
