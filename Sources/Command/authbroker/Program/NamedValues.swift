import StateDirectory

/// Lines of a name and its value, for people.
enum NamedValues {
  /// Prints a line for each value that is there; the values stand below each other.
  static func print(_ rows: [(name: String, value: String?)]) {
    let shown = rows.filter { $0.value?.isEmpty == false }
    let width = shown.map { $0.name.count }.max() ?? 0
    for (name, value) in shown {
      Output.line("\(name.padded(to: width))  \(PlainText.line((value ?? "").utf8))")
    }
  }
}
