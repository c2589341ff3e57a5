import BrokerProtocol
import SecretMemory

/// The answer to `getAccessToken`, rendered once for as long as the token is good.
struct CachedAnswer: Sendable {
  /// The JSON of the result.
  let json: Secret
  /// When the token ends, in milliseconds since 1970; the end of time where it has no end.
  let wallEnd: Int64
  /// The same in milliseconds of uptime: see ``Deadline``.
  let uptimeEnd: Int64
  /// How long the token lives in all, in milliseconds.
  let lifetime: Int64
  /// What is asked of a token where the request says nothing, in milliseconds.
  let skew: Int64
  /// For how many milliseconds it is answered although no client has used it; the session is over then.
  let idleTimeout: Int64

  /// A rendered token that expires at `end`.
  init(json: Secret, end: Deadline?, lifetime: Duration?, rules: SessionRules) {
    self.json = json
    wallEnd = end?.wall.milliseconds ?? .max
    uptimeEnd = end?.uptime.milliseconds ?? .max
    self.lifetime = lifetime?.milliseconds ?? .max
    skew = rules.expiry.skew.milliseconds
    idleTimeout = rules.idleTimeout > .zero ? rules.idleTimeout.milliseconds : .max
  }

  /// Whether the token serves a caller who needs it for so many milliseconds.
  ///
  /// The same rule as ``ExpiryPolicy``'s, in whole numbers: this is asked once a request.
  func isGood(for minValidity: Int64?, wall: Int64, uptime: Int64) -> Bool {
    let wanted = minValidity ?? skew
    let rest = min(wallEnd &- wall, uptimeEnd &- uptime)
    return rest > 0 && (rest >= wanted || lifetime < wanted)
  }
}
