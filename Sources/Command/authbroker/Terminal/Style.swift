import LinuxSystem

/// The highlighting of words on a terminal, and nowhere else.
struct Style {
  /// Whether escape sequences are written at all.
  let isEnabled: Bool

  /// For standard output; `NO_COLOR` (no-color.org) and `TERM=dumb` switch it off.
  init(environment: EnvironmentVariables) {
    let isUnwanted = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
    isEnabled = Output.isTerminal && !isUnwanted && environment["TERM"] != "dumb"
  }

  /// For a heading.
  func bold(_ text: String) -> String { sequence("1", text) }
  /// For what is well.
  func good(_ text: String) -> String { sequence("32", text) }
  /// For what wants attention.
  func warning(_ text: String) -> String { sequence("33", text) }
  /// For what is wrong.
  func bad(_ text: String) -> String { sequence("31", text) }
  /// For what is of less interest.
  func dim(_ text: String) -> String { sequence("2", text) }

  private func sequence(_ code: String, _ text: String) -> String {
    isEnabled ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}
