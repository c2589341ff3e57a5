import BrokerProtocol
import JSONRPC

/// How long a token lives, from what a reply says of it, whatever that is.
///
/// Nothing here adds or multiplies what came from outside without a check: a backend that counts in `1e300` seconds, or
/// backwards, gets the standard lifetime.
enum TokenLifetime {
  /// What is believed: a second to ten years.
  static let believable = 1...315_360_000
  /// What holds instead of a lifetime that is not believed: short enough to be asked again soon (RFC 6749, section 5.1,
  /// wants one that is documented).
  static let standard = Duration.seconds(300)
  /// Numbers from here on count milliseconds: as seconds it is the year 5138.
  private static let firstMillisecond = 100_000_000_000.0
  /// `Date` has whole seconds, and clocks that are set by the network differ by less than one: this is no difference.
  private static let clockTolerance = Duration.seconds(5)

  /// When something was, on this machine's clock and on the server's.
  struct Moments {
    /// When the request was sent.
    var sentAt: Timestamp
    /// When the reply was there.
    var receivedAt: Timestamp
    /// What the server's clock said then (RFC 9110, section 6.6.1), if it said so.
    var serverTime: Timestamp?

    /// How far the server's clock is ahead; nothing where that cannot be told.
    ///
    /// The server answered some time between request and reply, so a time in between says nothing, however slow the
    /// reply was.
    var serverIsAhead: Duration {
      guard let serverTime else { return .zero }
      if serverTime > receivedAt + TokenLifetime.clockTolerance { return serverTime - receivedAt }
      return serverTime + TokenLifetime.clockTolerance < sentAt ? serverTime - sentAt : .zero
    }
  }

  /// The end of a token whose lifetime is said in seconds, counted from when the request was sent: the slowness of a
  /// reply makes no token younger.
  ///
  /// - Parameters:
  ///   - node: the lifetime as it was said: a whole number or a text of one.
  ///   - moments: when it was said.
  /// - Returns: the standard lifetime for what is not believed.
  static func end(after node: JSONNode, _ moments: Moments) -> Timestamp {
    moments.sentAt + (believableSeconds(number(node)) ?? standard)
  }

  /// The end of a token that is said as a moment: a text of RFC 3339, or seconds or milliseconds since 1970.
  ///
  /// - Parameters:
  ///   - node: the moment as it was said, by the server's clock.
  ///   - moments: when it was said.
  /// - Returns: the moment by this machine's clock; nil for what is no moment, is over, or is not believed.
  static func end(at node: JSONNode, _ moments: Moments) -> Timestamp? {
    guard let end = moment(node) else { return nil }
    let here = end + (.zero - moments.serverIsAhead)
    let lifetime = (here - moments.sentAt).milliseconds
    guard lifetime >= Int64(believable.lowerBound) * 1000, lifetime <= Int64(believable.upperBound) * 1000 else {
      return nil
    }
    return here
  }

  /// A whole number of seconds that is believed.
  static func believableSeconds(_ number: Double?) -> Duration? {
    guard let number, number == number.rounded(), let whole = Int(exactly: number), believable.contains(whole) else {
      return nil
    }
    return .seconds(whole)
  }

  /// A number, or a text of one.
  static func number(_ node: JSONNode) -> Double? {
    if let number = try? node.number() { return number }
    guard let text = try? node.string(), text.utf8.count <= 20, !text.isEmpty,
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Double(text)
  }

  /// A moment as a backend writes it.
  static func moment(_ node: JSONNode) -> Timestamp? {
    if let number = number(node) {
      let milliseconds = number.magnitude < firstMillisecond ? number * 1000 : number
      // Exact only for what fits; the rest is no moment.
      return Int64(exactly: milliseconds.rounded()).map { Timestamp(milliseconds: $0) }
    }
    return (try? node.string()).flatMap { Timestamp($0) }
  }
}
