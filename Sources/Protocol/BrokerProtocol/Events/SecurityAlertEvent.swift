public import JSON

/// Something looks like an attack.
public struct SecurityAlertEvent: ObjectCodable, Equatable {
  /// The kind of alert.
  public enum Kind: String, Sendable, CaseIterable {
    case refreshTokenReuse, pinMismatch, storeTampering, subjectMismatch
    /// The store that several brokers share has gone back to an earlier state: refreshes have stopped.
    case storeRolledBack
  }

  /// The kind of alert.
  public var kind: Kind

  public init(kind: Kind) {
    self.kind = kind
  }

  public static let blank = SecurityAlertEvent(kind: .storeTampering)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("kind", &kind, .name("a known kind"))
  }
}
