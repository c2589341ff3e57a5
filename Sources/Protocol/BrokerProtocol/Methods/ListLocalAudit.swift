public import JSON

/// Returns the decisions of the embedded provider, and whether its audit log is as it was written.
///
/// - Throws: directory.
public enum ListLocalAudit: BrokerMethod {
  public static let name = "listLocalAudit"

  /// How many records an answer has at most; a message has room for them.
  public static let largestLimit = 1000

  public struct Params: MethodParams, Equatable {
    /// The number of the last record that the caller has seen; nil means the newest records.
    public var since: Int?
    /// How many records are wanted at most; never more than 1000.
    public var limit: Int

    public init(since: Int? = nil, limit: Int = 100) {
      self.since = since
      self.limit = limit
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("since", &since, .count)
      try coder.defaulted("limit", &limit, .count)
    }
  }

  public struct Result: ObjectCodable, Equatable {
    /// The records, the oldest first.
    public var records: [LocalAuditRecord]
    /// Whether the whole log is as it was written: nothing changed, nothing removed.
    public var isIntact: Bool

    public init(records: [LocalAuditRecord], isIntact: Bool) {
      self.records = records
      self.isIntact = isIntact
    }

    public static let blank = Result(records: [], isIntact: false)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("records", &records)
      try coder.required("intact", &isIntact)
    }
  }
}
