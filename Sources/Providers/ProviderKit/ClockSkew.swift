package import BrokerProtocol

/// How far a server's clock is ahead of this machine's, from one reply.
package enum ClockSkew {
  /// The moment of a server's time, which has whole seconds: on average it is half a second later (RFC 9110, section
  /// 5.6.7).
  package static func serverTime(_ secondsSince1970: Int64) -> Timestamp {
    let (milliseconds, overflow) = secondsSince1970.multipliedReportingOverflow(by: 1000)
    return Timestamp(milliseconds: overflow ? .max : milliseconds) + .milliseconds(500)
  }

  /// The difference in whole seconds, since `Date` has no more of them.
  ///
  /// The server has answered somewhere between request and reply, so its clock is compared with the middle of the two.
  /// How long that took comes from a clock that cannot be set.
  ///
  /// - Parameters:
  ///   - serverTime: the server's clock when it answered.
  ///   - sentAt: this machine's clock when the request was sent.
  ///   - roundTrip: how long the answer took.
  /// - Returns: more than zero where the server's clock is ahead.
  package static func between(_ serverTime: Timestamp, sentAt: Timestamp, roundTrip: Duration) -> Duration {
    let difference = (serverTime - (sentAt + roundTrip / 2)).milliseconds
    return .seconds((Double(difference) / 1000).rounded())
  }
}
