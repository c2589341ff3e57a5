package import BrokerProtocol

/// When a reply came, on this machine's clock and on the server's.
///
/// Times in a reply are counted from here: a lifetime from when the request was sent, a moment by the clock of the
/// server.
package struct ReplyMoments: Sendable, Equatable {
  /// When the request was sent.
  package var sentAt: Timestamp
  /// When the reply was there.
  package var receivedAt: Timestamp
  /// The server's time in the reply (`Date` of RFC 9110, section 6.6.1), if it has one.
  package var serverTime: Timestamp?

  /// The smallest difference of clocks that counts: `Date` has whole seconds, and clocks that are set by the network
  /// differ by less than one.
  static let clockTolerance = Duration.seconds(5)

  /// The moments of a reply.
  package init(sentAt: Timestamp, receivedAt: Timestamp, serverTime: Timestamp? = nil) {
    self.sentAt = sentAt
    self.receivedAt = receivedAt
    self.serverTime = serverTime
  }

  /// How far the server's clock is ahead of this machine's; nil where it does not say the time.
  ///
  /// The server answered some time between request and reply, so a time in between is no difference, however slow the
  /// reply was.
  package var clockSkew: Duration? {
    guard let serverTime else { return nil }
    if serverTime > receivedAt + Self.clockTolerance { return serverTime - receivedAt }
    return serverTime + Self.clockTolerance < sentAt ? serverTime - sentAt : .zero
  }

  /// A moment of the server's clock on this machine's; unchanged where the difference is unknown.
  package func here(_ moment: Timestamp) -> Timestamp {
    moment + (.zero - (clockSkew ?? .zero))
  }
}
