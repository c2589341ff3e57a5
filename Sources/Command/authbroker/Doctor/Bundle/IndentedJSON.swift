import JSON

/// JSON for people: a member or an element a line.
enum IndentedJSON {
  /// The lines of a value, with their ends.
  static func text(_ node: JSONNode) -> String { text(node, "") + "\n" }

  private static func text(_ node: JSONNode, _ indent: String) -> String {
    let inner = indent + "  "
    let (parts, ends): ([String], (String, String))
    switch node.kind {
    case .object:
      let members = (try? node.members()) ?? []
      parts = members.map { "\(JSONWriter.quoted($0.name)): \(text($0.value, inner))" }
      ends = ("{", "}")
    case .array:
      parts = ((try? node.elements()) ?? []).map { text($0, inner) }
      ends = ("[", "]")
    default: return String(decoding: node.text, as: UTF8.self)
    }
    guard !parts.isEmpty else { return ends.0 + ends.1 }
    return ends.0 + "\n" + parts.map { inner + $0 }.joined(separator: ",\n") + "\n" + indent + ends.1
  }
}
