import BrokerProtocol

/// The display of the demo: numbered steps, the command for each, and its output.
struct DemoStage {
  /// The highlighting of words.
  let style: Style
  private var steps = 0

  /// An empty stage.
  init(style: Style) { self.style = style }

  /// Begins a step.
  mutating func step(_ heading: String) {
    steps += 1
    Output.line((steps == 1 ? "" : "\n") + style.bold("\(steps). \(heading)"))
  }

  /// Prints the command that a person would type at this place.
  func typed(_ command: String) {
    Output.line("   " + style.dim("$") + " authbroker " + command)
  }

  /// Shows an answer.
  func answered(_ text: String) {
    Output.line("   " + style.good(text))
  }

  /// Shows an error.
  func answered(_ error: BrokerError) {
    Output.line("   " + style.warning("\(error.kind.rawValue) (\(error.kind.code))") + ": " + error.message)
  }

  /// Prints an event that the other client received.
  func told(_ event: BrokerEvent, _ text: [UInt8]) {
    Output.line("   " + style.dim("watch:") + " " + EventLine.text(of: event, text, style))
  }

  /// Says something.
  func note(_ text: String) {
    Output.line("     " + style.dim(text))
  }
}
