import BrokerProtocol
import LocalProvider

extension GetStatus.Delivery {
  /// What clients are told of one way of messages.
  init(_ report: DeliveryReport) {
    self.init(
      channel: report.channel.rawValue, sent: report.sent, failed: report.failed, underWay: report.underWay,
      lastFailure: report.lastFailure, lastFailureAt: report.lastFailureAt)
  }
}
