import BrokerProtocol
import StateDirectory

/// The outcomes of the embedded provider's deliveries, for people.
enum DeliveryLines {
  /// Prints a line for each way that was used since the start; one whose last try has failed is set off.
  static func print(_ ways: [GetStatus.Delivery], _ style: Style) {
    for way in ways {
      let text = text(way)
      Output.paragraph(text, behind: "messages ") { way.lastFailure == nil ? $0 : style.warning($0) }
    }
  }

  /// One way: what it has sent, and why its last try has failed.
  static func text(_ way: GetStatus.Delivery) -> String {
    let counts = "\(PlainText.line(way.channel.utf8)): \(way.sent) sent, \(way.failed) failed"
    guard let failure = way.lastFailure else { return counts }
    let time = way.lastFailureAt.map { " (\(LocalTime.clock($0)))" } ?? ""
    return "\(counts); \(PlainText.line(failure.utf8))\(time)"
  }
}
