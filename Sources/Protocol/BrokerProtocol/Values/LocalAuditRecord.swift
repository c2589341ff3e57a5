public import JSON

/// A decision of the embedded provider, as its audit log has it.
public struct LocalAuditRecord: Sendable, Equatable {
  /// Its number; the numbers have no gaps.
  public var number: Int
  /// When it was written.
  public var time: Timestamp
  /// The decision, as a stable name; more may be added.
  public var event: String
  /// The identifier of the account; nil where it is about none.
  public var user: String?
  /// Further details; never a secret.
  public var detail: String?

  public init(number: Int, time: Timestamp, event: String, user: String? = nil, detail: String? = nil) {
    self.number = number
    self.time = time
    self.event = event
    self.user = user
    self.detail = detail
  }
}

extension LocalAuditRecord: ObjectCodable {
  public static let blank = LocalAuditRecord(number: 0, time: .epoch, event: "")

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("number", &number, .count)
    try coder.required("at", &time)
    try coder.required("event", &event)
    try coder.optional("user", &user)
    try coder.optional("detail", &detail)
  }
}
