extension Duration {
  /// A time with its unit, such as `90s`, `15m`, `8h` or `7d`; a number alone is one of seconds, as everywhere.
  init?(_ text: String) {
    let units: [(name: String, seconds: Int64)] = [("s", 1), ("m", 60), ("h", 3600), ("d", 86400)]
    let unit = units.first { text.hasSuffix($0.name) }
    // More digits than these are more than the broker takes.
    let digits = unit == nil ? text : String(text.dropLast())
    guard (1...9).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int64(digits)
    else { return nil }
    self = .seconds(number * (unit?.seconds ?? 1))
  }

  /// The duration for people, from the largest unit that is not zero: `2 h 0 min 7 s`.
  var inWords: String {
    let seconds = max(0, components.seconds)
    let parts = [(seconds / 86400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s")]
    let shown = parts.drop { $0.0 == 0 }
    return shown.isEmpty ? "0 s" : shown.map { "\($0) \($1)" }.joined(separator: " ")
  }
}
