public import JSON

/// An entry of the audit: a grant, a refusal or a consent, or where the audit begins, ends or has a gap.
///
/// It names a token by its `tokenId`, and holds none.
public struct AuditEntry: ObjectCodable, Hashable {
  /// The kinds of entry; the names are part of the format in which entries rest.
  public enum Kind: String, Sendable, CaseIterable {
    /// Tokens were given.
    case grant
    /// Requests were refused.
    case refusal
    /// A person, or a program in their place, has answered a question for consent, or none has in time.
    case consent
    /// The audit was begun, by the start of a broker or by its configuration.
    case start
    /// The audit was ended in order.
    case stop
    /// Entries are missing.
    case gap
  }

  /// The number of the entry, from 1 without a gap.
  public var number: Int
  /// When it was made: for joined grants and refusals, when the last of them was at the latest.
  public var time: Timestamp
  /// The kind of entry.
  public var kind: String
  /// How many grants or refusals it stands for, or how many entries are missing; 0 where that is not known.
  public var count: Int
  /// When the first of those was at the earliest; nil where it stands for one.
  public var since: Timestamp?
  /// The client; nil where it is about none.
  public var client: AuditedClient?
  /// The method that was called.
  public var method: String?
  /// The profile; nil where the request named none, or named none that a profile can have.
  public var profile: ProfileName?
  /// The scopes of the token, or those asked for; nil where none were named.
  public var scopes: [String]?
  /// The audience of the token, or the one asked for.
  public var audience: String?
  /// The name of the token.
  public var tokenID: String?
  /// The kind of the error by which it was refused; how a question for consent ended; why entries are missing.
  public var outcome: String?
  /// The subject of a consent.
  public var subject: String?

  /// An entry of this kind, without a number yet.
  public init(_ kind: Kind, at time: Timestamp, count: Int = 1, since: Timestamp? = nil, outcome: String? = nil) {
    (number, self.time, self.kind, self.count) = (0, time, kind.rawValue, count)
    (self.since, self.outcome) = (since, outcome)
  }

  public static let blank = AuditEntry(.gap, at: .epoch)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("number", &number, .count)
    try coder.required("time", &time)
    try coder.required("kind", &kind, .word(of: Kind.allCases.map { $0.rawValue }))
    try coder.required("count", &count, .count)
    try coder.optional("since", &since)
    try coder.optional("client", &client)
    try coder.optional("method", &method)
    try coder.optional("profile", &profile)
    try coder.optional("scopes", &scopes)
    try coder.optional("audience", &audience)
    try coder.optional("tokenId", &tokenID)
    try coder.optional("outcome", &outcome)
    try coder.optional("subject", &subject)
  }
}

/// A client as the audit names it: without its process, whose number soon is another's.
public struct AuditedClient: ObjectCodable, Hashable {
  /// Its identity.
  public var identity: ClientIdentity
  /// Whether it had proven access to the state directory.
  public var isAdministrative: Bool

  /// A client of these members.
  public init(_ identity: ClientIdentity, isAdministrative: Bool = false) {
    (self.identity, self.isAdministrative) = (identity, isAdministrative)
  }

  public static let blank = AuditedClient(.blank)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try identity.code(&coder)
    try coder.optional("administrative", &isAdministrative, absent: false)
  }
}

/// The outcome of verifying the audit.
public struct AuditVerification: ObjectCodable, Equatable {
  /// Whether nothing contradicts that the entries are those that were written.
  public var isIntact: Bool
  /// How many entries were verified.
  public var count: Int
  /// The findings; the first few of many.
  public var findings: [AuditFinding]

  /// The outcome of looking at so many entries.
  public init(count: Int, findings: [AuditFinding]) {
    isIntact = !findings.contains { $0.isError }
    (self.count, self.findings) = (count, findings)
  }

  public static let blank = AuditVerification(count: 0, findings: [])

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("intact", &isIntact)
    try coder.required("count", &count, .count)
    try coder.required("findings", &findings)
  }
}

/// One finding about the audit.
public struct AuditFinding: ObjectCodable, Equatable {
  /// The kinds of finding, as stable names.
  public enum Kind: String, Sendable, CaseIterable {
    /// Entries are not what was written: changed, exchanged, or moved to another number.
    case changed
    /// Entries that were written are not there.
    case missing
    /// Entries are there that were not written, or were pruned.
    case foreign
    /// The head that was given is of entries that this audit never had, or has no more.
    case otherHead
    /// The head that was given is older than the oldest entry, so that it tells nothing.
    case prunedHead
    /// The audit says itself that entries are missing there.
    case gap
  }

  /// The kind of finding; more may be added.
  public var kind: String
  /// Whether the audit contradicts itself or the head, and does not only say what it lacks.
  public var isError: Bool
  /// The number of the first entry that it is about.
  public var entry: Int?
  /// One sentence.
  public var message: String

  /// A finding.
  public init(_ kind: Kind, isError: Bool, entry: Int? = nil, _ message: String) {
    (self.kind, self.isError, self.entry, self.message) = (kind.rawValue, isError, entry, message)
  }

  /// error: the audit contradicts itself, or the head; warning: the audit says itself what it lacks.
  private var severity: String {
    get { isError ? "error" : "warning" }
    set { isError = newValue == "error" }
  }

  public static let blank = AuditFinding(.gap, isError: false, "")

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("kind", &kind, .word(of: Kind.allCases.map { $0.rawValue }))
    try coder.required("severity", &severity, .word(of: ["error", "warning"]))
    try coder.optional("entry", &entry, .count)
    try coder.required("message", &message)
  }
}
