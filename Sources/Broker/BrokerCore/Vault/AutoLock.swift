/// The owner's rules for locking the vault without a client's request.
package struct AutoLockRules: Sendable, Equatable {
  /// The time without a use of any session after which the vault is locked; zero for never.
  package var idleTimeout: Duration
  /// Whether the vault is locked when the machine has slept.
  package var locksOnSuspend: Bool

  /// Rules; the vault stays open unless they say otherwise.
  package init(idleTimeout: Duration = .zero, locksOnSuspend: Bool = false) {
    self.idleTimeout = idleTimeout
    self.locksOnSuspend = locksOnSuspend
  }
}

/// Decides when an open vault is locked without a request.
///
/// A value that reads no clock. Everything is counted in uptime, which goes on while the machine is suspended and which
/// cannot be set.
struct AutoLock: Sendable {
  /// The shortest sleep that counts: above the difference of two clocks that are read one after the other.
  static let shortestSleep = Duration.milliseconds(10)
  /// The time within which no machine sleeps and wakes: so long after an answer the next one need not check how long it
  /// has slept.
  static let longestUnwatched = Duration.milliseconds(100)

  /// The owner's settings.
  private(set) var rules = AutoLockRules()
  /// When a client last used the vault, or it was opened.
  private var lastUse = Duration.zero
  /// How long the machine had slept when that was last checked; nil where it is unknown.
  private var slept: Duration?

  /// Whether the vault is ever locked by itself.
  var isOn: Bool { rules.locksOnSuspend || rules.idleTimeout > .zero }

  /// When the vault is locked unless it is used before; nil for never.
  var idleEnd: Duration? { rules.idleTimeout > .zero ? lastUse + rules.idleTimeout : nil }

  /// For how long after its last use an answer may be given without a check here; nil for as long as it is fresh.
  var unwatched: Duration? {
    let idleTimeout = idleEnd == nil ? nil : rules.idleTimeout
    return rules.locksOnSuspend ? min(idleTimeout ?? Self.longestUnwatched, Self.longestUnwatched) : idleTimeout
  }

  /// Applies other rules; the time without a use counts from now.
  mutating func setRules(_ rules: AutoLockRules, at uptime: Duration, slept: Duration?) {
    self.rules = rules
    opened(at: uptime, slept: slept)
  }

  /// Takes in that the vault was opened.
  mutating func opened(at uptime: Duration, slept: Duration?) {
    used(at: uptime)
    self.slept = slept
  }

  /// Takes in a use.
  mutating func used(at uptime: Duration) { lastUse = max(lastUse, uptime) }

  /// Whether no client has used the vault for too long.
  func isIdle(at uptime: Duration) -> Bool { idleEnd.map { $0 <= uptime } ?? false }

  /// Whether the machine has slept since the last look.
  mutating func hasSlept(_ slept: Duration?) -> Bool {
    guard let slept else { return false }
    defer { self.slept = slept }
    return rules.locksOnSuspend && self.slept.map { slept - $0 >= Self.shortestSleep } ?? false
  }
}
