extension Int {
  /// The number with its noun, as in `1 attempt` and `2 attempts`.
  func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
