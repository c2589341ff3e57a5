/// When a token file is written again: a decision, without a clock and without a file.
///
/// A reader may keep what it has read for ten minutes (Azure's libraries do), so the token in the file lives longer than
/// that at every moment, where the provider's tokens do. Where they do not, a token is replaced before half of its life
/// is over.
struct TokenFileSchedule: Equatable, Sendable {
  /// The least life of the token in the file, where the provider's tokens live long enough.
  static let leastLife = Duration.seconds(600)
  /// The margin beyond that: a refresh takes time, and is tried again where it fails.
  private static let margin = Duration.seconds(60)
  /// A token that lives shorter would be refreshed each minute or more often for the sake of ten minutes.
  private static let shortestLong = leastLife + margin * 2
  /// The pause after a refresh that gave no better token.
  private static let retry = Duration.seconds(15)
  /// The least time between two questions to the broker.
  private static let shortestPause = Duration.seconds(1)

  /// Whether the broker refreshes a token that lives shorter than ``wanted``; else a fresh one is asked for each time.
  let isRefreshedByOthers: Bool
  /// Whether a refresh gave no other token, as where a provider issues an ID token at a login only.
  private(set) var isFixed = false
  /// The longest life that a token of this session had when it came; nil until one came fresh.
  private(set) var lifetime: Duration?

  /// Whether the provider's tokens are known to live too short for ten minutes in the file.
  var isShort: Bool { lifetime.map { $0 < Self.shortestLong } ?? false }

  /// The least remaining lifetime to ask the broker for.
  var wanted: Duration {
    guard let lifetime, isShort else { return Self.leastLife + Self.margin }
    // A little more, so that the question comes before the half.
    return lifetime * 11 / 20
  }

  /// A schedule of which nothing is known yet.
  init(isRefreshedByOthers: Bool = true) { self.isRefreshedByOthers = isRefreshedByOthers }

  /// Notes a token that came just now.
  ///
  /// - Parameters:
  ///   - life: how long it lives from now on.
  ///   - isFresh: whether it was asked for as one that is issued now.
  ///   - isRenewed: whether it is another one than before that.
  /// - Returns: whether a fresh one is needed: this one lives shorter than is wanted.
  mutating func note(_ life: Duration, isFresh: Bool, isRenewed: Bool = true) -> Bool {
    if isFresh {
      isFixed = !isRenewed
      if !isFixed { lifetime = life }
    } else if life >= wanted {
      lifetime = max(lifetime ?? life, life)
    }
    guard !isFresh, !isFixed, life < wanted else { return false }
    // Unless its life is known: then the broker has refreshed it by itself, or could not.
    return !isRefreshedByOthers || lifetime == nil
  }

  /// How long the token in the file is left alone.
  ///
  /// - Parameter life: how long it lives from now on.
  /// - Returns: a second or more.
  func pause(_ life: Duration) -> Duration {
    guard !isFixed else { return max(Self.shortestPause, life) }
    let rest = life - wanted
    // The broker may still have found it good enough, by an instant.
    guard rest <= .zero - Self.shortestPause || rest > .zero else { return Self.shortestPause }
    return rest > .zero ? max(Self.shortestPause, rest) : min(Self.retry, max(Self.shortestPause, life / 4))
  }
}
