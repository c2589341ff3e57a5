/// The owner's rules for locking the vault without a client's request.
package struct AutoLockRules: Sendable, Equatable {
  /// The vault is locked where no client has used a session for so long; zero where it is not.
  package var idleTimeout: Duration
  /// Whether the vault is locked when the machine has slept.
  package var locksOnSuspend: Bool

  /// Rules; the vault stays open unless they say otherwise.
  package init(idleTimeout: Duration = .zero, locksOnSuspend: Bool = false) {
    self.idleTimeout = idleTimeout
    self.locksOnSuspend = locksOnSuspend
  }
}

/// Decides when an open vault is to be locked by itself.
///
/// A value that reads no clock. Everything is counted in uptime, which goes on while the machine is suspended and which
/// cannot be set.
struct AutoLock: Sendable {
  /// How long the machine must have slept: above what reading two clocks one after the other can differ by.
  static let shortestSleep = Duration.milliseconds(10)
  /// No machine sleeps and wakes within this time: so long after an answer the next one needs no look at how long it has
  /// slept.
  static let longestUnwatched = Duration.milliseconds(100)

  /// The owner's settings.
  private(set) var rules = AutoLockRules()
  /// When a client last used the vault, or it was opened.
  private var lastUse = Duration.zero
  /// How long the machine had slept by the last look; nil where that is not known.
  private var slept: Duration?

  /// Whether the vault is ever locked by itself.
  var isOn: Bool { rules.locksOnSuspend || rules.idleTimeout > .zero }

  /// When the vault is to be locked unless it is used before; nil where it is not.
  var idleEnd: Duration? { rules.idleTimeout > .zero ? lastUse + rules.idleTimeout : nil }

  /// For how long after its last use an answer may be given without a look here; nil for as long as it is good.
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
