extension Duration {
  /// The duration for people, from the largest unit that is not zero: `2 h 0 min 7 s`.
  var inWords: String {
    let seconds = max(0, components.seconds)
    let parts = [(seconds / 86400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s")]
    let shown = parts.drop { $0.0 == 0 }
    return shown.isEmpty ? "0 s" : shown.map { "\($0) \($1)" }.joined(separator: " ")
  }
}
