public import JSON

/// Durations, in seconds: of members whose name ends in `Seconds`.
public struct SecondsCoding: ValueCoding {
  /// Whether they are differences of two times, which may be negative.
  package let isDifference: Bool

  public func write(_ value: Duration, to writer: inout JSONWriter) { writer.number(value.inSeconds) }

  public func read(_ node: JSONNode) throws(JSONMismatch) -> Duration {
    isDifference ? try node.difference() : try node.seconds()
  }
}

extension ValueCoding where Self == SecondsCoding {
  /// A duration from zero to ten years.
  public static var seconds: SecondsCoding { SecondsCoding(isDifference: false) }

  /// The difference of two times.
  public static var difference: SecondsCoding { SecondsCoding(isDifference: true) }
}
