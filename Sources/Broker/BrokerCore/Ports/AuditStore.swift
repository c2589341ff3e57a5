package import BrokerProtocol

/// The part of the store in which the audit rests: entries are appended, and never changed.
package protocol AuditStore: Sendable {
  /// The end of the audit.
  ///
  /// - Throws: ``StoreFailure/locked``, ``StoreFailure/failed(context:)``.
  func auditState() async throws(StoreFailure) -> AuditState

  /// Appends entries durably, all of them or none, each under the next number, and prunes the oldest; a batch that failed
  /// and is given again takes the place of what may be durable of it.
  ///
  /// It takes nothing of the room that is kept for sessions on a full disk.
  ///
  /// - Returns: the head behind the last of them.
  /// - Throws: ``StoreFailure/locked``, ``StoreFailure/failed(context:)``, ``StoreFailure/tampered(profile:)``.
  func appendAudit(_ entries: [AuditEntry]) async throws(StoreFailure) -> AuditHead

  /// Reads a page of entries, the oldest first.
  ///
  /// - Parameters:
  ///   - number: the entry behind which it begins.
  ///   - since: the time from which on entries are wanted.
  ///   - profile: the profile that entries are wanted of, with those that are of none; nil for all.
  /// - Returns: the page; an entry that is not what was written is left out.
  /// - Throws: ``StoreFailure/locked``, ``StoreFailure/failed(context:)``.
  func readAudit(
    after number: Int, since: Timestamp?, profile: ProfileName?
  ) async throws(StoreFailure) -> AuditPage

  /// Verifies every entry, in parts between which other work goes on.
  ///
  /// - Parameter head: the text of an earlier head, to be compared with; nil for none.
  /// - Returns: what was found.
  /// - Throws: ``StoreFailure/locked``, ``StoreFailure/failed(context:)``.
  func verifyAudit(against head: String?) async throws(StoreFailure) -> AuditVerification
}

/// The end of the audit's chain: who has it can tell later whether the entries up to it are still those that were written.
package struct AuditHead: Sendable, Equatable {
  /// The number of the last entry.
  package var number: Int
  /// The number and the chain as they are told: nothing of an entry can be had from it.
  package var text: String

  /// A head of these members.
  package init(number: Int, text: String) { (self.number, self.text) = (number, text) }
}

/// The state of the audit where it begins to be written.
package struct AuditState: Sendable, Equatable {
  /// The head; nil where there is no entry.
  package var head: AuditHead?
  /// Whether the last entry is no last word: a broker has ended without one.
  package var isInterrupted: Bool

  /// A state of these members.
  package init(head: AuditHead?, isInterrupted: Bool) { (self.head, self.isInterrupted) = (head, isInterrupted) }
}

/// Some entries of the audit.
package struct AuditPage: Sendable, Equatable {
  /// The entries that were asked for.
  package var entries: [AuditEntry]
  /// The number of the last entry that was looked at.
  package var through: Int
  /// The head then; nil where there is no entry.
  package var head: AuditHead?

  /// A page of these members.
  package init(entries: [AuditEntry], through: Int, head: AuditHead?) {
    (self.entries, self.through, self.head) = (entries, through, head)
  }
}

/// The retention of the audit: the number of entries and their age, whichever ends first.
package enum AuditRetention {
  /// The contract's number: months of a busy machine, in some fifty megabytes.
  package static let count = 100_000
  /// The contract's age.
  package static let age = Duration.seconds(90 * 86_400)
}

/// Something about the audit for the administrator's log.
package enum AuditNotice: Sendable, Equatable {
  /// The head as of now.
  case head(AuditHead)
  /// Entries cannot be written; they are kept as long as there is room.
  case notWritten
  /// They are written again.
  case written
}
