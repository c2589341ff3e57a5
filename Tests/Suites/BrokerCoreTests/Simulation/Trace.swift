/// What has happened in a run, for a person who looks for the cause.
struct Trace {
  /// Whether anybody will read it.
  let isOn: Bool
  /// The present step.
  var step = 0
  private var lines: [String] = []

  init(isOn: Bool) { self.isOn = isOn }

  /// Notes a line; its text is only made where somebody will read it.
  mutating func note(_ text: @autoclosure () -> String) {
    if isOn { lines.append("\(step): \(text())") }
  }

  /// The last lines.
  func last(_ count: Int) -> [String] { Array(lines.suffix(count)) }
}
