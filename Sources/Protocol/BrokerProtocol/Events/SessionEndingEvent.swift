public import JSON

/// A session will end soon, by itself: a login in time spares the interruption.
public struct SessionEndingEvent: ObjectCodable, Equatable {
  /// When the session ends, as far as is known.
  public var endsAt: Timestamp

  public init(endsAt: Timestamp) {
    self.endsAt = endsAt
  }

  public static let blank = SessionEndingEvent(endsAt: .epoch)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("endsAt", &endsAt)
  }
}
