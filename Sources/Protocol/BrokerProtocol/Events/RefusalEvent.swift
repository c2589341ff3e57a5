public import JSON

/// A server refused one API call.
public struct RefusalEvent: ObjectCodable, Equatable {
  /// The HTTP status.
  public var status: Int

  public init(status: Int) {
    self.status = status
  }

  public static let blank = RefusalEvent(status: 0)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("status", &status)
  }
}
