import BrokerProtocol
import JSON

/// Results as JSON that no method gives as they are.
extension Context {
  /// Prints a value as a line of JSON.
  func printJSON(_ value: some JSONEncodable) {
    var writer = JSONWriter()
    value.encode(to: &writer)
    Output.json(writer.bytes)
  }

  /// Prints an object with one list of objects.
  func printJSON<Row>(_ name: String, _ rows: [Row], _ write: (inout JSONWriter, Row) -> Void) {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key(name)
      writer.array { writer in
        for row in rows { writer.object { writer in write(&writer, row) } }
      }
    }
    Output.json(writer.bytes)
  }

  /// Prints an object whose members are strings.
  func printJSON(_ members: [(name: String, value: String)]) {
    var writer = JSONWriter()
    writer.object { writer in
      for member in members { writer.member(member.name, member.value) }
    }
    Output.json(writer.bytes)
  }
}
