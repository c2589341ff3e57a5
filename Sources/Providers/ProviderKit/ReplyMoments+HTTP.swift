package import BrokerProtocol
package import HTTP

extension ReplyMoments {
  /// The moments of a response, with the server's clock where it says the time.
  package init(_ response: HTTPResponse, sentAt: Timestamp, receivedAt: Timestamp) {
    let date = response.date(now: receivedAt.milliseconds / 1000)
    self.init(
      sentAt: sentAt, receivedAt: receivedAt,
      // A date has four digits for the year at most, so this is far from overflowing.
      serverTime: date.map { Timestamp(milliseconds: $0.secondsSince1970 * 1000) })
  }
}
