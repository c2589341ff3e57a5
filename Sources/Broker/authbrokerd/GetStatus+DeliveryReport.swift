import BrokerProtocol
import LocalProvider

extension GetStatus.Delivery {
  /// The report for clients about one way of messages.
  init(_ report: DeliveryReport) {
    self.init(
      channel: report.channel.rawValue, sent: report.sent, failed: report.failed, underWay: report.underWay,
      lastFailure: report.lastFailure, lastFailureAt: report.lastFailureAt)
  }
}
