import JSON

/// The correction of a string that stands in the place of a number: `"300"`, `"5m"`, `"1 MiB"`.
struct NumberCorrection {
  /// A unit that people write behind a number.
  private struct Unit {
    /// The spellings of the unit, in lower case.
    let names: [String]
    /// The value of the unit, in seconds or bytes.
    let worth: Double
    /// Its name in a sentence.
    let name: String
  }

  private static let units = [
    Unit(names: ["ms"], worth: 0.001, name: "millisecond"),
    Unit(names: ["s", "sec", "second", "seconds"], worth: 1, name: "second"),
    Unit(names: ["m", "min", "minute", "minutes"], worth: 60, name: "minute"),
    Unit(names: ["h", "hour", "hours"], worth: 3600, name: "hour"),
    Unit(names: ["d", "day", "days"], worth: 86400, name: "day"),
  ]
  private static let sizes = [
    Unit(names: ["k", "kb", "kib"], worth: 1024, name: "KiB"),
    Unit(names: ["m", "mb", "mib"], worth: 1_048_576, name: "MiB"),
  ]

  private let digits: String
  private let unit: String

  /// Takes the string apart; of other values nothing is known.
  init(_ node: JSONNode) {
    let text = ((try? node.string()) ?? "").lowercased()
    digits = String(text.prefix { $0.isASCII && $0.isNumber || $0 == "." })
    unit = String(text.dropFirst(digits.count).drop { $0 == " " })
  }

  /// Suggests a number within a range; nil where that would not be accepted either.
  ///
  /// With `fractions` the number is one of seconds and has units of time, otherwise it is whole and has units of size.
  func suggestion(from low: Int, to high: Int, fractions: Bool) -> String? {
    guard let count = Double(digits), count.isFinite else { return nil }
    let known = fractions ? Self.units : Self.sizes
    let unit = known.first { $0.names.contains(self.unit) }
    guard unit != nil || self.unit.isEmpty else { return nil }
    let number = count * (unit?.worth ?? 1)
    guard number >= Double(low), number <= Double(high), fractions || number == number.rounded() else { return nil }
    let text = number == number.rounded() ? String(Int(number)) : String(number)
    guard let unit else { return "write \(text) without quotes" }
    let plural = fractions && count != 1 ? "s" : ""
    return "for \(digits) \(unit.name)\(plural) write \(text)"
  }
}
