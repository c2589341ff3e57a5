package import BrokerCore
package import BrokerProtocol
import SQLite

/// The audit, for the owner of the state directory.
extension LocalProvider {
  /// Reads the audit log, and verifies all of it; see ``AccountDirectory/audit(since:limit:)``.
  ///
  /// It leaves the provider's thread between two parts of the work, so that logins need not wait for all of it.
  package nonisolated func audit(
    since: Int?, limit: Int
  ) async throws(ProviderFailure) -> (records: [LocalAuditRecord], isIntact: Bool) {
    let records = try await auditRecords(since: since, limit: limit)
    return (records, try await verifyAudit())
  }

  /// Whether the audit is as it was written, up to the record that was the last one when this began.
  ///
  /// - Throws: `.transient(.providerUnavailable)`, and what else the files say.
  nonisolated func verifyAudit() async throws(ProviderFailure) -> Bool {
    var verification = try await beginAuditVerification()
    while !verification.isFinished { verification = try await verifyMoreOfAudit(verification) }
    return verification.isIntact
  }

  /// Begins to verify the audit.
  func beginAuditVerification() throws(ProviderFailure) -> AuditVerification {
    try perform { database, _ in try database.audit.beginVerification() }
  }

  /// Verifies the next records of the audit.
  func verifyMoreOfAudit(_ verification: AuditVerification) throws(ProviderFailure) -> AuditVerification {
    try perform { database, _ in try database.audit.verifyMore(verification) }
  }

  private func auditRecords(since: Int?, limit: Int) throws(ProviderFailure) -> [LocalAuditRecord] {
    try perform { database, _ in
      let start = try since.map { Int64($0) } ?? database.audit.lastNumber() - Int64(limit)
      return try database.audit.records(after: start, limit: limit).map { LocalAuditRecord($0) }
    }
  }
}

extension LocalAuditRecord {
  /// The record without the chain.
  fileprivate init(_ record: AuditRecord) {
    self.init(
      number: Int(record.number), time: record.at, event: record.event, user: record.account, detail: record.detail)
  }
}
