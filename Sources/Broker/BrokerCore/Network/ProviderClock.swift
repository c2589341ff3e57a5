/// How far the clock of a provider is off, as far as it was reported.
package struct ProviderClock: Sendable, Equatable {
  /// Clocks that differ by more are worth a word, and a change by more is worth another.
  ///
  /// It is twice the margin that is kept before the end of a token: up to there no client notices.
  package static let tolerance = Duration.seconds(60)

  /// How far the provider's clock is ahead of this machine's; nil while they agree, or nothing is known.
  package private(set) var skew: Duration?

  /// A clock of which nothing is known.
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

  /// Forgets what was told: this machine's clock was set.
  package mutating func forget() { skew = nil }

  private static func isWrong(_ difference: Duration) -> Bool {
    difference > tolerance || difference < .zero - tolerance
  }
}
