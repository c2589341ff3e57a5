import BrokerProtocol

/// A record of the audit: nothing secret, and nothing personal but the account's identifier.
struct AuditRecord: Equatable {
  /// Counts from 1 without a gap.
  var number: Int64
  /// When it was written.
  var at: Timestamp
  /// An `AuditEvent`'s name, also of another version of this program.
  var event: String
  /// The account; nil where there is no such account.
  var account: String?
  /// More of it, in a few words.
  var detail: String?
  /// The keyed hash of the record and of the chain before it.
  var chain: [UInt8]
}
