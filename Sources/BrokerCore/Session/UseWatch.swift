/// When clients last used a session, and what follows where none does.
///
/// Everything is counted in uptime, which goes on while the machine is suspended and which cannot be set. Only across a
/// restart the wall clock counts, by what was written down. Where no session ends, nothing is: what stood there would be
/// old by the time that a timeout is set.
struct UseWatch: Sendable, Equatable {
  /// A session that was not used for two lifetimes of its token is not refreshed in the background, but none is given up
  /// within an hour: short tokens would be left alone over a cup of coffee.
  static let shortestPatience = Duration.seconds(3600)
  /// How many lifetimes that is: a client that comes once in a lifetime finds a fresh token.
  static let patienceInLifetimes = 2
  /// The use is written down at most once a minute, which costs a disk nothing, or for short timeouts ten times within
  /// one: so much earlier a session may end after a crash.
  static let longestNotePause = Duration.seconds(60)
  /// How many times within a timeout.
  static let notesInTimeout = 10

  /// A session that was not used for so long ends; zero where none does.
  var timeout: Duration = .zero
  /// When the session was last used, also before the start of the process; nil where that is not known.
  private(set) var lastUse: Duration?
  /// Whether it was used since the process started.
  private var isUsedHere = false
  /// The last use that is written down, or on its way.
  private(set) var notedUse: Duration?
  /// When that was written down.
  private var notedAt: Duration?

  /// A watch of a session of which no use is known; zero is no timeout.
  init(timeout: Duration = .zero) { self.timeout = timeout }

  /// Begins with a session that was just read from the store; `lastUse` is what was written down.
  ///
  /// Where nothing was, it is taken for just used.
  mutating func restore(lastUse: Duration?, at uptime: Duration) {
    self = UseWatch(timeout: timeout)
    self.lastUse = lastUse.map { min($0, uptime) } ?? (timeout > .zero ? uptime : nil)
    notedUse = lastUse
  }

  /// Begins with a session that was just made, and written down with its time.
  mutating func begin(at uptime: Duration) {
    self = UseWatch(timeout: timeout)
    used(at: uptime)
    noted(at: uptime)
  }

  /// Applies another timeout; a session of which no use is known is taken for just used.
  mutating func setTimeout(_ timeout: Duration, at uptime: Duration) {
    self.timeout = timeout
    if timeout > .zero, lastUse == nil { lastUse = uptime }
  }

  /// Takes in a use; one that came after the end of the session's time counts nothing.
  mutating func used(at uptime: Duration) {
    if let idleEnd, uptime >= idleEnd { return }
    lastUse = max(lastUse ?? uptime, uptime)
    isUsedHere = true
  }

  /// When the session ends for want of use; nil where it does not.
  var idleEnd: Duration? { timeout > .zero ? lastUse.map { $0 + timeout } : nil }

  /// Whether the session has ended for want of use.
  func isOver(at uptime: Duration) -> Bool { idleEnd.map { $0 <= uptime } ?? false }

  /// Whether it is worth refreshing a token of this lifetime before a caller asks.
  func isInUse(at uptime: Duration, lifetime: Duration?) -> Bool {
    guard isUsedHere, let lastUse else { return false }
    return uptime - lastUse < max(Self.shortestPatience, (lifetime ?? .zero) * Self.patienceInLifetimes)
  }

  /// When the last use is to be written down; nil where it is.
  ///
  /// The pause counts from the use that is written down, too: a record may carry one that is much older than itself.
  var noteDue: Duration? {
    guard timeout > .zero else { return oldNoteDue }
    guard let lastUse, lastUse != notedUse else { return nil }
    guard let notedAt else { return lastUse }
    return min(notedAt, notedUse ?? notedAt) + min(timeout / Self.notesInTimeout, Self.longestNotePause)
  }

  /// When what is written down of an earlier timeout is to be removed, as the session is used without its being noted.
  private var oldNoteDue: Duration? {
    guard notedUse != nil, isUsedHere, let lastUse else { return nil }
    return notedAt.map { $0 + Self.longestNotePause } ?? lastUse
  }

  /// Takes in that the last use is being written down, or removed where no session ends.
  mutating func noted(at uptime: Duration) {
    notedUse = timeout > .zero ? lastUse : nil
    notedAt = uptime
  }

  /// Takes in that it could not be: it is tried again after the usual pause.
  mutating func noteFailed() { notedUse = timeout > .zero ? nil : lastUse }

  /// Takes in that the wall clock was set: what is written down of the last use is by the clock of before, so it is
  /// written once more.
  mutating func clockWasSet() {
    guard timeout > .zero else { return }
    notedUse = nil
    notedAt = nil
  }

  /// Whether the next use must be seen at once, as the timer is set by it.
  var isWaitingForUse: Bool { timeout > .zero && lastUse == notedUse }
}
