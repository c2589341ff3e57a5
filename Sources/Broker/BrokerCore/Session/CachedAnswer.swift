import BrokerProtocol
import SecretMemory

/// The answers to `getAccessToken`, rendered once for as long as the token is good.
struct CachedAnswer: Sendable {
  /// The JSON of the result; nil where it was not asked for yet.
  private let json: Secret?
  /// The same for those who want the token to live for longer than can be relied on.
  private let capped: Secret?
  /// When the token serves whom.
  private let freshness: Freshness
  /// What is asked of a token where the request says nothing, in milliseconds.
  private let skew: Int64
  /// Until when the session need not see that it is used, in milliseconds of uptime: then its refresh token is renewed.
  private let seenUntil: Int64
  /// For how many milliseconds it is answered although no client has used it: until the session is over, or it is to be
  /// looked whether the vault is locked.
  let idleTimeout: Int64

  /// The rendered answers with the token of a session; `unwatched` is as ``AutoLock/unwatched`` says.
  init(_ answers: RenderedAnswers, of life: SessionLife, rules: SessionRules, unwatched: Duration?) {
    json = answers.current
    capped = answers.capped
    freshness = life.freshness
    skew = rules.expiry.skew.milliseconds
    seenUntil = life.renewal.refresh?.uptime.milliseconds ?? .max
    let idleTimeout = rules.idleTimeout > .zero ? rules.idleTimeout.milliseconds : .max
    self.idleTimeout = min(idleTimeout, unwatched?.milliseconds ?? .max)
  }

  /// The answer for a caller who needs the token for so many milliseconds; nil where the session must be asked.
  func answer(for minValidity: Int64?, wall: Int64, uptime: Int64) -> Secret? {
    guard uptime < seenUntil else { return nil }
    return switch freshness.verdict(for: minValidity ?? skew, wall: wall, uptime: uptime) {
    case .good: json
    case .capped: capped
    case .stale: nil
    }
  }
}
