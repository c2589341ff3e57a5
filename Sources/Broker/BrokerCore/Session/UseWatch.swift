/// The last use of a session, and its idle timeout and keep-alive.
///
/// Everything is counted in uptime, which goes on while the machine is suspended and which cannot be set. Only across a
/// start of the machine the wall clock counts, by the note of the last use.
struct UseWatch: Sendable, Equatable {
  /// The longest pause between two notes of use where a session has an idle timeout.
  ///
  /// Once a minute costs a disk nothing; a short timeout has ten notes. So much earlier a session may end after a crash.
  static let longestNotePause = Duration.seconds(60)
  /// The longest pause between two notes of use otherwise: once an hour, since they only decide for how many days the
  /// session is kept alive.
  static let rareNotePause = Duration.seconds(3600)
  /// How many times within a timeout.
  static let notesInTimeout = 10

  /// A use that was written down.
  struct Note: Sendable, Equatable {
    /// When it was, in uptime.
    var use: Duration
    /// Whether it was written down within the minute, as a timeout asks for.
    var isExact: Bool
  }

  /// A session that was not used for so long ends; zero where none does.
  private(set) var timeout: Duration
  /// A session that was used within this time is refreshed before a caller asks.
  private(set) var keepAlive: Duration
  /// When the session was last used, also before the start of the process; nil where that is not known.
  private(set) var lastUse: Duration?
  /// Whether clients may have used it later, and not in this process.
  private var isRough = false
  /// The last use that is written down, or on its way.
  private(set) var note: Note?
  /// When that was written down.
  private var notedAt: Duration?

  /// A watch of a session of which no use is known.
  init(_ rules: SessionRules) {
    timeout = rules.idleTimeout
    keepAlive = rules.keepAlive
  }

  /// Begins with a session that was just read from the store, and with its note of use; without a note, it was used at
  /// `other` at least.
  ///
  /// Where a session ends for want of use, and that was not watched before, it is taken for just used.
  mutating func restore(_ note: Note?, orElse other: Duration, at uptime: Duration) {
    let isExact = note?.isExact ?? false
    lastUse = timeout > .zero && !isExact ? uptime : min(note?.use ?? other, uptime)
    isRough = !isExact && timeout == .zero
    self.note = timeout > .zero && !isExact ? nil : note
    // What is rough is not written more often by a broker that is started often.
    if isRough { notedAt = note.map { min($0.use, uptime) } ?? uptime }
  }

  /// Begins with a session that was just made, and written down with its time.
  mutating func begin(at uptime: Duration) {
    used(at: uptime)
    noted(at: uptime)
  }

  /// Applies other rules.
  mutating func setRules(_ rules: SessionRules, at uptime: Duration) {
    if rules.idleTimeout > .zero, timeout == .zero {
      // What was written down once an hour would end a session early.
      if isRough || lastUse == nil { lastUse = uptime }
      isRough = false
      if note?.isExact != true { note = nil }
      notedAt = nil
    }
    timeout = rules.idleTimeout
    keepAlive = rules.keepAlive
  }

  /// Notes a use; one after the end of the session's time does not count.
  mutating func used(at uptime: Duration) {
    if let idleEnd, uptime >= idleEnd { return }
    lastUse = max(lastUse ?? uptime, uptime)
    isRough = false
  }

  /// When the session ends for want of use; nil where it does not.
  var idleEnd: Duration? { timeout > .zero ? lastUse.map { $0 + timeout } : nil }

  /// Whether the session has ended for want of use.
  func isOver(at uptime: Duration) -> Bool { idleEnd.map { $0 <= uptime } ?? false }

  /// Whether the session is kept alive by refreshing it before a caller asks.
  func isInUse(at uptime: Duration) -> Bool { lastUse.map { uptime - $0 < keepAlive } ?? false }

  /// When the last use is to be written down; nil where it is.
  ///
  /// The pause counts from the use that is written down, too: a record may carry one that is much older than itself.
  var noteDue: Duration? {
    guard let lastUse, lastUse != note?.use, !isRough else { return nil }
    guard let notedAt else { return lastUse }
    return min(notedAt, note?.use ?? notedAt) + notePause
  }

  private var notePause: Duration {
    if timeout > .zero { return min(timeout / Self.notesInTimeout, Self.longestNotePause) }
    // What stands there of an earlier timeout would be old by the time that one is set again.
    return note?.isExact == true ? Self.longestNotePause : Self.rareNotePause
  }

  /// Takes in that the last use is being written down.
  mutating func noted(at uptime: Duration) {
    note = lastUse.map { Note(use: $0, isExact: timeout > .zero) }
    notedAt = uptime
  }

  /// Takes in that it could not be: it is tried again after the usual pause.
  mutating func noteFailed() { note = nil }

  /// Notes that the wall clock was set: the note of the last use is by the clock of before, so it is written once more
  /// where a session ends by it.
  mutating func clockWasSet() {
    guard timeout > .zero else { return }
    note = nil
    notedAt = nil
  }

  /// Whether the next use must be seen at once, as the timer is set by it.
  var isWaitingForUse: Bool { timeout > .zero && lastUse == note?.use }
}
