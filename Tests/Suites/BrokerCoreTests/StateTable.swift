import Testing

/// A table of states and events, as text: a line with the name of a state, then indented lines `event: what happens`.
///
/// What is not listed must change nothing and do nothing, so the text is complete and can be read.
struct StateTable {
  private var rows: [String: [String: String]] = [:]

  init(_ text: String) {
    var state = ""
    for line in text.split(separator: "\n") {
      if !line.hasPrefix(" ") {
        state = String(line)
        continue
      }
      let words = line.drop { $0 == " " }.split(separator: ":", maxSplits: 1)
      guard words.count == 2 else { continue }
      rows[state, default: [:]][String(words[0])] = String(words[1].drop { $0 == " " })
    }
  }

  /// The states that it has something to say of.
  var states: Set<String> { Set(rows.keys) }

  /// The events that it lists for a state.
  func events(in state: String) -> Set<String> { Set(rows[state, default: [:]].keys) }

  /// Compares what happened with the table; `before` and `after` describe the states around it.
  func check(
    _ state: String, _ event: String, _ actions: [String], _ before: String, _ after: String,
    _ location: SourceLocation = #_sourceLocation
  ) {
    var happened = actions.joined(separator: ", ")
    if after != before { happened += (happened.isEmpty ? "" : " ") + "→ " + after }
    let expected = rows[state]?[event] ?? ""
    #expect(happened == expected, "\(state)\n  \(event): \(happened)", sourceLocation: location)
  }
}
