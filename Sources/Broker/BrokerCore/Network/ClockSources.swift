import BrokerProtocol
import JOSE

/// How far the clock of a provider is off, as far as it was reported.
package struct ProviderClock: Sendable, Equatable {
  /// The smallest skew that is reported, and the smallest change that is reported again.
  ///
  /// It is twice the margin that is kept before the expiry of a token: up to there no client notices.
  package static let tolerance = Duration.seconds(60)

  /// How far the provider's clock is ahead of this machine's; nil while they agree, or nothing is known.
  package private(set) var skew: Duration?

  /// A clock without a known skew.
  package init() {}

  /// Takes in what a reply told; nil where it told nothing.
  ///
  /// - Parameter seen: how far the provider's clock is ahead.
  /// - Returns: whether there is something new to be said.
  package mutating func note(_ seen: Duration?) -> Bool {
    guard let seen else { return false }
    guard Self.isWrong(seen) else {
      defer { skew = nil }
      return skew != nil
    }
    defer { skew = skew.flatMap { Self.isWrong(seen - $0) ? nil : $0 } ?? seen }
    return skew.map { Self.isWrong(seen - $0) } ?? true
  }

  /// Forgets the skew: this machine's clock was set.
  package mutating func forget() { skew = nil }

  private static func isWrong(_ difference: Duration) -> Bool {
    difference > tolerance || difference < .zero - tolerance
  }
}

/// The opinions of other machines about this machine's wall clock, believed where two of them agree.
///
/// One alone may be wrong: a proxy that answers from its cache says the time of then (RFC 9111, section 5.1).
struct ClockSources: Sendable {
  /// A source of the time.
  enum Source: Hashable, Sendable {
    /// The `Date` of a provider's replies.
    case replies(ProviderBinding)
    /// The tokens that it gives, which say when they were issued.
    case tokens(ProviderBinding)
  }

  /// More are not needed for two to agree; profiles have few providers.
  private static let most = 16

  private var known: [(source: Source, ahead: Duration)] = []

  /// How far the clocks of others are ahead, where two of them agree; nil where no two do.
  private(set) var verdict: Duration?

  /// Notes the time of a source.
  ///
  /// - Returns: whether the verdict is another one.
  mutating func note(_ ahead: Duration, from source: Source) -> Bool {
    known.removeAll { $0.source == source }
    known.append((source, ahead))
    if known.count > Self.most { known.removeFirst() }
    guard known.contains(where: { $0.source != source && Self.agree($0.ahead, ahead) }),
      verdict.map({ !Self.agree($0, ahead) }) ?? true
    else { return false }
    verdict = ahead
    return true
  }

  /// Forgets all sources: this machine's clock was set.
  mutating func forget() { self = ClockSources() }

  private static func agree(_ one: Duration, _ other: Duration) -> Bool {
    let difference = one - other
    return difference <= TokenDating.tolerance && difference >= .zero - TokenDating.tolerance
  }
}

extension Broker {
  /// Notes the clocks that the tokens of a reply, and the reply itself, show.
  func noteClocks(of tokens: TokenSet, _ slot: ProfileSlot) {
    noteClock(tokens.clockSkew, of: slot)
    // However many clients there are at one place, it is one source.
    var binding = slot.machine.binding
    binding.clientID = ""
    var isNew = false
    if let skew = tokens.clockSkew { isNew = clockSources.note(skew, from: .replies(binding)) }
    // A token without a lifetime of its own is no JWT, or none that says when it was issued.
    let issuedAt = UnverifiedToken.span(of: tokens.accessToken.value)?.issuedAt
    if let issuedAt { isNew = clockSources.note(issuedAt - now.wall, from: .tokens(binding)) || isNew }
    guard isNew, let verdict = clockSources.verdict else { return }
    for slot in slots { handle(.clockJudged(verdict), on: slot) }
  }
}
