/// A setting that is a whole number.
package struct WholeNumberSetting: Sendable {
  /// The key in its section.
  package let key: String
  /// The accepted values.
  package let range: ClosedRange<Int>
  /// The default.
  package let standard: Int

  /// Declares a whole number; `standard` must be in the range.
  package init(_ key: String, _ range: ClosedRange<Int>, standard: Int) {
    self.key = key
    self.range = range
    self.standard = standard
  }
}

/// A setting that is a number of seconds, fractions allowed down to the millisecond; its key ends in `Seconds`.
package struct DurationSetting: Sendable {
  /// The key in its section.
  package let key: String
  /// How many seconds are accepted.
  package let range: ClosedRange<Int>
  /// The default, in seconds.
  package let standard: Int

  /// Declares a duration by its seconds; `standard` must be in the range.
  package init(_ key: String, _ range: ClosedRange<Int>, standard: Int) {
    self.key = key
    self.range = range
    self.standard = standard
  }
}

/// A setting that is one of a few words.
package struct ChoiceSetting<Value: RawRepresentable<String> & CaseIterable & Sendable>: Sendable {
  /// The key in its section.
  package let key: String
  /// The default.
  package let standard: Value

  /// Declares a choice among the cases of `Value`.
  package init(_ key: String, standard: Value) {
    self.key = key
    self.standard = standard
  }

  /// The expected value, as the end of a sentence.
  package var expected: String {
    let words = Value.allCases.map { "\"\($0.rawValue)\"" }
    return words.count > 1 ? "one of " + words.joined(separator: ", ") : words.joined()
  }
}
