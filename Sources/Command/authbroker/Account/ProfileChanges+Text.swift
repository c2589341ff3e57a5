import BrokerProtocol
import JSON

extension ProfileChanges.Change {
  /// A member that gets a new string; nil removes it.
  init(_ name: String, _ text: String?) {
    var writer = JSONWriter()
    if let text { writer.string(text) } else { writer.null() }
    self.init(name: name, value: RawJSON(text: writer.bytes))
  }
}
