import BrokerProtocol
import JSON
import StateDirectory

/// An event as one line for people.
enum EventLine {
  /// Time, profile, name, and the members of the data.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - text: the notification's `params`, of which the data's members are shown as they are, but times as local ones.
  ///   - style: how words are set off.
  /// - Returns: the line without its end.
  static func text(of event: BrokerEvent, _ text: [UInt8], _ style: Style) -> String {
    let root = try? JSONDocument(parsing: text).root
    let data = (try? root?["data"]?.members()) ?? []
    let members = data.filter { $0.name != "profile" }.map { "\(PlainText.line($0.name.utf8))=\(value($0.value))" }
    let profile = event.profile?.description ?? "-"
    let words = [style.dim(LocalTime.full(event.time)), profile, style.bold(event.payload.name.rawValue)] + members
    return words.joined(separator: "  ")
  }

  private static func value(_ node: JSONNode) -> String {
    guard let text = try? node.string() else { return PlainText.line(node.text) }
    // A date alone, or another text that begins like one, stays as it is.
    if text.utf8.count >= 20, let time = Timestamp(text) { return LocalTime.full(time) }
    return PlainText.line(text.utf8)
  }
}
