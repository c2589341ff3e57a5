public import JSON

/// A user logged in with a backup code, which is used up by that.
public struct BackupCodeUsedEvent: ObjectCodable, Equatable {
  /// How many are left, where the provider says so.
  public var remaining: Int?

  public init(remaining: Int? = nil) {
    self.remaining = remaining
  }

  public static let blank = BackupCodeUsedEvent()

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.optional("remaining", &remaining)
  }
}
