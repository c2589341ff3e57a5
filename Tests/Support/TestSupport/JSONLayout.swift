package import JSON

/// JSON text for people: two spaces for each level, and on one line what fits on it.
package enum JSONLayout {
  private static let width = 120

  /// The text of a value, with a line feed at its end.
  package static func text(of node: JSONNode) throws -> String { try text(of: node, indent: 0, column: 0) + "\n" }

  /// The text of a value that begins at `column` of a line with this indentation.
  private static func text(of node: JSONNode, indent: Int, column: Int) throws -> String {
    let line = try line(of: node)
    // A comma may follow.
    guard column + line.count >= width else { return line }
    let inner = indent + 2
    let start = "\n" + String(repeating: " ", count: inner)
    let end = "\n" + String(repeating: " ", count: indent)
    switch node.kind {
    case .object:
      let members = try node.members().map { name, value in
        let key = quoted(name) + ": "
        return try start + key + text(of: value, indent: inner, column: inner + key.count)
      }
      return "{" + members.joined(separator: ",") + end + "}"
    case .array:
      let elements = try node.elements().map { try start + text(of: $0, indent: inner, column: inner) }
      return "[" + elements.joined(separator: ",") + end + "]"
    default: return line
    }
  }

  private static func line(of node: JSONNode) throws -> String {
    switch node.kind {
    case .object:
      "{" + (try node.members().map { try quoted($0.name) + ": " + line(of: $0.value) }).joined(separator: ", ") + "}"
    case .array: "[" + (try node.elements().map(line)).joined(separator: ", ") + "]"
    default: String(decoding: node.text, as: UTF8.self)
    }
  }

  private static func quoted(_ name: String) -> String {
    var writer = JSONWriter()
    writer.string(name)
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
