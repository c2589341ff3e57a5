public import JSON

/// Returns entries of the audit, the oldest first: so many at a time that no other client waits for them.
///
/// - Throws: accessDenied, vaultLocked, vaultTampered, storeFailed.
public enum ReadAudit: BrokerMethod {
  public static let name = "readAudit"

  public struct Params: MethodParams, Equatable {
    /// The number of the entry behind which the page begins; nil begins with the oldest.
    public var after: Int?
    /// The time from which on entries are wanted.
    public var since: Timestamp?
    /// The profile that entries are wanted of, with those that are about the audit itself; nil for all.
    public var profile: ProfileName?
    /// Whether every entry is verified, in place of a page.
    public var verifies: Bool
    /// A head that was written to the log earlier, for the verification to be compared with.
    public var head: String?

    /// Parameters of these members.
    public init(
      after: Int? = nil, since: Timestamp? = nil, profile: ProfileName? = nil, verifies: Bool = false,
      head: String? = nil
    ) {
      (self.after, self.since, self.profile) = (after, since, profile)
      (self.verifies, self.head) = (verifies, head)
    }

    public static let blank = Params()

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.optional("after", &after, .count)
      try coder.optional("since", &since)
      try coder.optional("profile", &profile)
      try coder.optional("verify", &verifies, absent: false)
      try coder.optional("head", &head, .word)
    }
  }

  public struct Result: ObjectCodable, Equatable {
    /// The entries of this page that were asked for.
    public var entries: [AuditEntry]
    /// The number of the last entry that was looked at: where the next page begins.
    public var through: Int
    /// How many entries there are behind it, of any profile.
    public var omitted: Int
    /// The head of the audit; nil where it has no entry.
    public var head: String?
    /// Whether the broker adds entries now.
    public var isOn: Bool
    /// The outcome of the verification, where it was asked for.
    public var verification: AuditVerification?

    /// A result of these members.
    public init(
      entries: [AuditEntry] = [], through: Int, omitted: Int = 0, head: String? = nil, isOn: Bool = true,
      verification: AuditVerification? = nil
    ) {
      (self.entries, self.through, self.omitted) = (entries, through, omitted)
      (self.head, self.isOn, self.verification) = (head, isOn, verification)
    }

    public static let blank = Result(through: 0)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("entries", &entries)
      try coder.required("through", &through, .count)
      try coder.defaulted("omitted", &omitted, .count)
      try coder.optional("head", &head, .word)
      try coder.required("on", &isOn)
      try coder.optional("verification", &verification)
    }
  }
}
