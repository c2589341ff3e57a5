package import BrokerProtocol
package import JSON
package import SecretMemory

/// How long a token lives, from what a reply says of it, whatever that is.
///
/// For an access token three things are asked in this order: the lifetime, the moment of its end, its own `exp`. The first
/// that can be meant holds. Where something is said and nothing of it can be meant, the standard lifetime holds: a token
/// that is refreshed too often costs a request, one that is never refreshed costs the caller a refusal. Where nothing is
/// said at all, the token has no end that is known.
///
/// Nothing here adds or multiplies what came from outside without a check: a provider that counts in `1e300` seconds, or
/// backwards, gets the standard lifetime.
package enum TokenLifetime {
  /// What is believed: a second to ten years.
  ///
  /// Zero and less is no life. What is longer is no lifetime but most likely a moment (seconds since 1970) in the wrong
  /// place; taken for a lifetime it would never be examined again.
  package static let believable = 1...315_360_000
  /// What holds instead of a lifetime that is not believed: short enough to be asked again soon (RFC 6749, section 5.1,
  /// wants one that is documented).
  package static let standard = Duration.seconds(300)
  /// Numbers from here on count milliseconds: as seconds it is the year 5138.
  private static let firstMillisecond = 100_000_000_000.0
  /// A number in a string has no more digits: 64 bits have 20 of them.
  private static let longestNumber = 20

  /// When an access token ends.
  ///
  /// - Parameters:
  ///   - token: the token, which may be a JWT.
  ///   - expiresIn: its lifetime as it was said, nil where nothing is; `null` counts as said.
  ///   - expiresAt: its end as it was said, likewise.
  ///   - moments: when the reply came.
  /// - Returns: the moment by this machine's clock; nil where nothing is said.
  package static func accessTokenEnd(
    of token: Secret, expiresIn: JSONNode?, expiresAt: JSONNode? = nil, _ moments: ReplyMoments
  ) -> Timestamp? {
    if let expiresIn, let end = end(after: expiresIn, moments) { return end }
    if let expiresAt, let end = end(at: expiresAt, moments) { return end }
    if let end = UnverifiedToken.end(of: token, moments) { return end }
    return expiresIn == nil && expiresAt == nil ? nil : moments.sentAt + standard
  }

  /// When a refresh token ends.
  ///
  /// What is not believed is not known: an invented end would end the session.
  ///
  /// - Parameters:
  ///   - expiresIn: its lifetime as it was said.
  ///   - expiresAt: its end as it was said.
  ///   - moments: when the reply came.
  /// - Returns: the moment by this machine's clock; nil where that is not known.
  package static func refreshTokenEnd(
    expiresIn: JSONNode?, expiresAt: JSONNode? = nil, _ moments: ReplyMoments
  ) -> Timestamp? {
    if let expiresIn, let end = end(after: expiresIn, moments) { return end }
    return expiresAt.flatMap { end(at: $0, moments) }
  }

  /// The end of a token whose lifetime is said in seconds, counted from when the request was sent: the slowness of a
  /// reply makes no token younger.
  ///
  /// - Parameters:
  ///   - node: the lifetime as it was said: a number, or a string with one; a fraction of a second is cut off.
  ///   - moments: when it was said.
  /// - Returns: nil for a lifetime that is not believed.
  package static func end(after node: JSONNode, _ moments: ReplyMoments) -> Timestamp? {
    believableSeconds(number(node)).map { moments.sentAt + $0 }
  }

  /// The end of a token that is said as a moment: an RFC 3339 timestamp, or seconds or milliseconds since 1970.
  ///
  /// - Parameters:
  ///   - node: the moment as it was said, by the server's clock.
  ///   - moments: when it was said.
  /// - Returns: the moment by this machine's clock; nil for what is no moment, is over, or is not believed.
  package static func end(at node: JSONNode, _ moments: ReplyMoments) -> Timestamp? {
    moment(node).flatMap { believableEnd(moments.here($0), moments) }
  }

  /// An end that leaves a token a life that is believed.
  static func believableEnd(_ end: Timestamp, _ moments: ReplyMoments) -> Timestamp? {
    let lifetime = (end - moments.sentAt).milliseconds
    guard lifetime >= Int64(believable.lowerBound) * 1000, lifetime <= Int64(believable.upperBound) * 1000 else {
      return nil
    }
    return end
  }

  /// A number of seconds that is believed, without its fraction.
  static func believableSeconds(_ number: Double?) -> Duration? {
    guard let number, let whole = Int(exactly: number.rounded(.down)), believable.contains(whole) else { return nil }
    return .seconds(whole)
  }

  /// A number, or a string with one: digits, maybe a point and digits.
  package static func number(_ node: JSONNode) -> Double? {
    if let number = try? node.number() { return number }
    guard let text = try? node.string(), text.utf8.count <= longestNumber else { return nil }
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count <= 2, parts.allSatisfy(isDigits) else { return nil }
    return Double(text)
  }

  private static func isDigits(_ text: Substring.UTF8View) -> Bool {
    !text.isEmpty && text.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// A moment as a provider writes it.
  package static func moment(_ node: JSONNode) -> Timestamp? {
    if let number = number(node) {
      let milliseconds = number.magnitude < firstMillisecond ? number * 1000 : number
      // Exact only for what fits; the rest is no moment.
      return Int64(exactly: milliseconds.rounded()).map { Timestamp(milliseconds: $0) }
    }
    return (try? node.string()).flatMap { Timestamp($0) }
  }
}
