public import JSON

/// Events were dropped for a reader that was too slow.
public struct EventsLostEvent: ObjectCodable, Equatable {
  /// The sequence of the first one.
  public var from: Int
  /// The sequence of the last one.
  public var to: Int

  public init(from: Int, to: Int) {
    self.from = from
    self.to = to
  }

  public static let blank = EventsLostEvent(from: 0, to: 0)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("from", &from)
    try coder.required("to", &to)
  }
}
