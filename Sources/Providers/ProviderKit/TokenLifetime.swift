import BrokerCore
package import BrokerProtocol
import JOSE
package import JSON
package import SecretMemory

/// Works out when a token expires, from the times in a reply.
///
/// For an access token three values are read in this order: its lifetime, the moment of its expiry, its own `exp`. The
/// first plausible one holds, but no longer than the token lives from its own `iat` to its `exp`. Where there is a
/// value and none is plausible, the standard lifetime holds: a token that is refreshed too often costs a request, one
/// that is never refreshed costs the caller a refusal. Where there is none at all, no expiry is known.
///
/// No value from outside is added or multiplied without a check: a provider that counts in `1e300` seconds, or
/// backwards, gets the standard lifetime.
package enum TokenLifetime {
  /// The plausible lifetimes: a second to ten years.
  ///
  /// Zero and less is no lifetime. A longer value is most likely a moment (seconds since 1970) in the wrong place;
  /// taken for a lifetime it would never be examined again.
  private static let believableSeconds = 1...315_360_000
  /// The lifetime where the provider gives no plausible one: short enough to be renewed soon (RFC 6749, section 5.1,
  /// wants one that is documented).
  package static let standard = Duration.seconds(300)

  /// When an access token expires.
  ///
  /// - Parameters:
  ///   - token: the token, which may be a JWT.
  ///   - expiresIn: its lifetime as it was said, nil where nothing is; `null` counts as said.
  ///   - expiresAt: its expiry as it was said, likewise.
  ///   - moments: when the reply came.
  /// - Returns: the moment by this machine's clock; nil where nothing is said.
  package static func accessTokenExpiry(
    of token: Secret, expiresIn: JSONNode?, expiresAt: JSONNode? = nil, _ moments: ReplyMoments
  ) -> Timestamp? {
    let said = expiresIn.flatMap { expiry(after: $0, moments) } ?? expiresAt.flatMap { expiry(at: $0, moments) }
    if let said { return min(said, claimedLifetime(of: token).map { moments.sentAt + $0 } ?? said) }
    if let expiry = claimedExpiry(of: token, moments) { return expiry }
    return expiresIn == nil && expiresAt == nil ? nil : moments.sentAt + standard
  }

  /// When a refresh token expires.
  ///
  /// Implausible lifetimes count as unknown: an assumed one would end the session.
  ///
  /// - Parameters:
  ///   - expiresIn: its lifetime as it was said.
  ///   - expiresAt: its expiry as it was said.
  ///   - moments: when the reply came.
  /// - Returns: the moment by this machine's clock; nil where that is not known.
  package static func refreshTokenExpiry(
    expiresIn: JSONNode?, expiresAt: JSONNode? = nil, _ moments: ReplyMoments
  ) -> Timestamp? {
    if let expiresIn, let expiry = expiry(after: expiresIn, moments) { return expiry }
    return expiresAt.flatMap { expiry(at: $0, moments) }
  }

  /// The expiry of a token whose lifetime is given in seconds, counted from when the request was sent: the slowness of
  /// a reply makes no token younger.
  ///
  /// - Parameters:
  ///   - node: the lifetime as it was said: a number, or a string with one and maybe a unit; a fraction of a second
  ///     is cut off.
  ///   - moments: when it was said.
  /// - Returns: nil for a lifetime that is not believed.
  private static func expiry(after node: JSONNode, _ moments: ReplyMoments) -> Timestamp? {
    believable(seconds: NumericDate.seconds(node)).map { moments.sentAt + $0 }
  }

  /// The expiry of a token that is given as a moment: an RFC 3339 timestamp, or seconds or milliseconds since 1970.
  ///
  /// - Parameters:
  ///   - node: the moment as it was said, by the server's clock.
  ///   - moments: when it was said.
  /// - Returns: the moment by this machine's clock; nil for what is no moment, is over, or is not believed.
  private static func expiry(at node: JSONNode, _ moments: ReplyMoments) -> Timestamp? {
    NumericDate.moment(node).flatMap { believable(moments.here($0), moments) }
  }

  /// An expiry that leaves a token a lifetime that is believed; nil for any other.
  private static func believable(_ expiry: Timestamp, _ moments: ReplyMoments) -> Timestamp? {
    let range = Duration.seconds(believableSeconds.lowerBound)...Duration.seconds(believableSeconds.upperBound)
    return range.contains(expiry - moments.sentAt) ? expiry : nil
  }

  /// A number of seconds that is believed, without its fraction.
  private static func believable(seconds number: Double?) -> Duration? {
    guard let whole = number.flatMap({ Int(exactly: $0.rounded(.down)) }), believableSeconds.contains(whole) else {
      return nil
    }
    return .seconds(whole)
  }

  /// How long a token that is a JWT lives by its own claims, whatever its provider's clock says.
  private static func claimedLifetime(of token: Secret) -> Duration? {
    guard let (issuedAt, end) = UnverifiedToken.span(of: token), let issuedAt else { return nil }
    return believable(seconds: (end - issuedAt).inSeconds)
  }

  /// When a token that is a JWT expires, by its own claims.
  ///
  /// `exp` and `iat` are moments of the server's clock. Where the reply does not show how far that is off, `iat` may: a
  /// token issued in the future shows that the clock is ahead, and one that would be over when it comes, that it is
  /// behind, since no provider issues an expired token. Its lifetime from `iat` to `exp` then counts from when the
  /// request was sent.
  private static func claimedExpiry(of token: Secret, _ moments: ReplyMoments) -> Timestamp? {
    guard let (issuedAt, end) = UnverifiedToken.span(of: token) else { return nil }
    let here = moments.here(end)
    let latest = moments.receivedAt + ReplyMoments.clockTolerance
    if let issuedAt, moments.here(issuedAt) > latest || here <= moments.sentAt {
      return believable(moments.sentAt + (end - issuedAt), moments)
    }
    return believable(here, moments)
  }
}
