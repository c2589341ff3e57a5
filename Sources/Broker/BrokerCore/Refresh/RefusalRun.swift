import BrokerProtocol

/// Refusals of one refresh token, in words that may mean its end, since its access token has expired.
///
/// No single refusal says that such a token has ended; a provider that goes on means it all the same. The session is
/// shown as expired then, and goes on: its token is tried again, more and more seldom, since the fault may be fixed.
package struct RefusalRun: Sendable, Equatable {
  /// So many refusals are enough.
  static let enough = 5
  /// They must have gone on for so long.
  static let shortest = Duration.seconds(120)
  /// When the token is tried again once the session is shown as expired; the last one again and again.
  private static let pauses: [Duration] = [
    .seconds(5), .seconds(15), .seconds(45), .seconds(120), .seconds(3600),
  ]
  /// A person's own request is not sent sooner after the last one.
  private static let shortestPause = Duration.seconds(5)

  /// The last refusal.
  package private(set) var rejection: ProviderRejection
  /// Whether the session is shown as expired.
  package private(set) var isShown = false
  private var count = 0
  private let since: Duration
  private var last: Duration
  private var tries = 0
  private var wasRefused = true

  /// A run that begins with the first refusal at an uptime.
  init(_ rejection: ProviderRejection, at uptime: Duration) {
    self.rejection = rejection
    since = uptime
    last = uptime
    count = 1
  }

  /// Takes in another refusal.
  mutating func note(_ rejection: ProviderRejection, at uptime: Duration) {
    self.rejection = rejection
    count += 1
  }

  /// Whether the session is to be shown as expired from now on.
  mutating func becomesShown(at uptime: Duration) -> Bool {
    guard !isShown, count >= Self.enough, uptime - since >= Self.shortest else { return false }
    isShown = true
    return true
  }

  /// Notes the answer to a try of a session that is shown as expired.
  ///
  /// Once the token is tried seldom, the first answer that is not about it has it tried quickly again: the end of an
  /// outage is not missed by an hour.
  mutating func noteTry(_ failure: ProviderFailure) {
    var isRefused = false
    if case .rejected(let rejection) = failure { isRefused = rejection.isCounted }
    if wasRefused, !isRefused, tries >= Self.pauses.count - 1 { tries = 0 }
    wasRefused = isRefused
  }

  /// How long to wait for the next try, after one that was in vain.
  mutating func pause(at uptime: Duration) -> Duration {
    last = uptime
    defer { tries += 1 }
    return Self.pauses[min(tries, Self.pauses.count - 1)]
  }

  /// Whether the token may be sent for a person's own request, or another configuration.
  func maySend(at uptime: Duration) -> Bool { uptime - last >= Self.shortestPause }

  /// The error that callers get.
  func error(_ profile: ProfileName) -> BrokerError {
    let word = rejection.word.map { " (\($0.text))" } ?? ""
    return BrokerError(
      .sessionExpired, "The session has ended: the provider keeps rejecting its refresh token\(word). Log in again.",
      profile: profile)
  }
}

extension RefreshMachine {
  /// Whether the session is shown as expired although its refresh token is tried again.
  package var isShownExpired: Bool { run?.isShown ?? false }

  /// Counts a refusal that may mean the end of the session; nil where it does not count.
  mutating func take(_ rejection: ProviderRejection, _ terms: Terms, _ now: Moment) -> [Action]? {
    guard rejection.isCounted, lost == nil, !terms.servesAccessToken(at: now) else { return nil }
    if run == nil { run = RefusalRun(rejection, at: now.uptime) } else { run?.note(rejection, at: now.uptime) }
    guard run?.becomesShown(at: now.uptime) == true else { return nil }
    return [.showEnd] + restShown(now)
  }

  /// Rests until the next try of a token whose session is shown as expired.
  mutating func restShown(_ now: Moment) -> [Action] {
    guard let pause = run?.pause(at: now.uptime), let error = run?.error(profile) else { return [] }
    failuresInARow += 1
    callersWaitUntil = now.uptime + pause
    state = .backingOff(until: now.uptime + pause, error, endsWith: nil)
    defer { hasIntent = false }
    return (hasIntent ? [.closeIntent] : []) + [.report(error, nextAttemptAt: now.wall + pause)]
  }

  /// Lets a token be sent at once whose session is shown as expired.
  mutating func insist(at now: Moment) {
    guard let run, run.isShown, run.maySend(at: now.uptime), case .backingOff(_, let error, let condition) = state
    else { return }
    state = .backingOff(until: now.uptime, error, endsWith: condition)
  }
}

/// Refusals that several profiles of one provider get at the same time: they are about the provider, or about what all of
/// the profiles are configured with, and say nothing of a refresh token.
struct SharedRefusals: Sendable {
  /// The time within which refusals count as simultaneous: a provider's outage lasts longer.
  static let window = Duration.seconds(120)

  private struct Provider: Hashable {
    let type: String
    let issuer: String
  }

  private var last: [Provider: [ProfileName: Duration]] = [:]

  /// Notes a refusal at an uptime; true where another profile of the provider got one as well.
  mutating func note(_ profile: ProfileName, of binding: ProviderBinding, at uptime: Duration) -> Bool {
    let provider = Provider(type: binding.type, issuer: binding.issuer)
    var recent = last[provider, default: [:]].filter { uptime - $0.value < Self.window }
    recent[profile] = uptime
    last[provider] = recent
    return recent.count > 1
  }
}
