public import JSON

extension Duration {
  /// The duration in whole milliseconds; what does not fit is cut to the nearer end.
  public var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    guard !overflow else { return seconds < 0 ? .min : .max }
    let (sum, carry) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    return carry ? (seconds < 0 ? .min : .max) : sum
  }

  /// The duration in seconds, as the wire writes it.
  public var inSeconds: Double { Double(milliseconds) / 1000 }
}

extension JSONNode {
  /// No duration of the protocol is longer: ten years.
  package static let longestSeconds = 315_360_000

  /// A duration of a member whose name ends in `Seconds`.
  ///
  /// - Throws: ``JSONMismatch`` where it is no number, negative, or longer than ten years.
  public func seconds() throws(JSONMismatch) -> Duration {
    let value = try number()
    guard value >= 0, value <= Double(Self.longestSeconds) else {
      throw mismatch("a number of seconds from 0 to 315360000")
    }
    return .milliseconds(Int64((value * 1000).rounded()))
  }

  /// No two moments of RFC 3339 are further apart, in seconds: ten thousand years.
  private static let longestDifference = 315_569_520_000.0

  /// The difference of two times, of a member whose name ends in `Seconds`; it may be negative.
  ///
  /// - Throws: ``JSONMismatch`` where it is no number, or more than RFC 3339 can tell.
  func difference() throws(JSONMismatch) -> Duration {
    let value = try number()
    guard value.magnitude <= Self.longestDifference else { throw mismatch("a difference of two times in seconds") }
    return .milliseconds(Int64((value * 1000).rounded()))
  }
}

extension JSONWriter {
  /// Writes a duration as a member whose name must end in `Seconds`.
  public mutating func seconds(_ name: String, _ duration: Duration?) {
    guard let duration else { return }
    key(name)
    number(duration.inSeconds)
  }
}
