import BrokerCore
import BrokerProtocol
import SQLite
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// The record of the provider's own decisions.
@Suite(.standardTimeLimit) struct AuditTests {
  /// Four records: two accounts and their logins.
  private func record(_ fixture: ProviderFixture) async throws {
    for email in ["a@example.com", "b@example.com"] { _ = try await fixture.session(email) }
    #expect(
      try await fixture.provider.auditEvents()
        == ["accountRegistered", "loginSucceeded", "accountRegistered", "loginSucceeded"])
    #expect(try await fixture.provider.isAuditIntact())
  }

  @Test func `what was decided stands there in its order, also after a restart`() async throws {
    try await ProviderFixture.run { fixture in
      try await record(fixture)
      await fixture.provider.shutDown()
      let wrong = try fixture.credentials(password: "another password")
      for _ in 1...4 { _ = await failure { () throws(ProviderFailure) in try await fixture.provider.login(wrong) } }
      let events = try await fixture.provider.auditEvents()
      #expect(events.count == 8 && events.suffix(4).allSatisfy { $0 == "loginRefused" })
      #expect(try await fixture.provider.isAuditIntact())
      #expect(try await fixture.number("SELECT count(*) FROM audit WHERE detail = 'next attempt in 2 s'") == 1)
      #expect(try await fixture.number("SELECT count(*) FROM audit WHERE at = 1800000000000") == 8)
    }
  }

  @Test func `a refusal that only waits is not recorded`() async throws {
    try await ProviderFixture.run { fixture in
      let wrong = try fixture.credentials(password: "another password")
      for _ in 1...10 { _ = await failure { () throws(ProviderFailure) in try await fixture.provider.login(wrong) } }
      #expect(try await fixture.provider.auditEvents().count == 4)
    }
  }

  @Test(
    arguments: [
      "UPDATE audit SET event = 'loginRefused' WHERE number = 2", "UPDATE audit SET at = at + 1 WHERE number = 1",
      "UPDATE audit SET account = NULL WHERE number = 4", "UPDATE audit SET detail = '' WHERE number = 3",
      "UPDATE audit SET chain = zeroblob(32) WHERE number = 4", "UPDATE audit SET number = 9 WHERE number = 4",
      "DELETE FROM audit WHERE number = 1", "DELETE FROM audit WHERE number = 3", "DELETE FROM audit WHERE number = 4",
      "DELETE FROM audit WHERE number > 2", "DELETE FROM audit",
      """
      INSERT INTO audit (number, at, event, account, detail, chain)
      SELECT 5, at, event, account, detail, chain FROM audit WHERE number = 4
      """,
      """
      UPDATE audit SET account = (SELECT account FROM audit AS other WHERE other.number = 2) WHERE number = 4
      """,
    ] as [StaticString])
  func `a record that was changed, added, removed or cut off is noticed, now and later`(
    _ change: StaticString
  ) async throws {
    try await ProviderFixture.run { fixture in
      try await record(fixture)
      let findings = await (fixture.provider as any AuthProvider).examine()
      #expect(findings.allSatisfy { $0.level == .ok })
      try await fixture.change(change)
      #expect(try await fixture.provider.isAuditIntact() == false)
      let finding = await (fixture.provider as any AuthProvider).examine().last
      #expect(finding?.level == .failure && finding?.check == "audit")
      guard try await fixture.number("SELECT count(*) FROM audit WHERE number = 5") == 0 else { return }
      _ = try await fixture.provider.login(fixture.credentials()).session
      #expect(try await fixture.provider.isAuditIntact() == false)
    }
  }

  @Test func `a long audit is verified in parts, with other calls between them that take nothing from it`()
    async throws
  {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      try await fixture.provider.addRecords(2 * AuditTable.pageCount)
      var verification = try await fixture.provider.beginAuditVerification()
      var parts = 0
      while !verification.isFinished {
        verification = try await fixture.provider.verifyMoreOfAudit(verification)
        _ = try await fixture.provider.login(fixture.credentials()).session
        parts += 1
      }
      #expect(parts == 3 && verification.isIntact)
      #expect(try await fixture.provider.isAuditIntact())
      try await fixture.change("UPDATE audit SET detail = 'x' WHERE number = 1900")
      #expect(try await fixture.provider.isAuditIntact() == false)
    }
  }

  @Test func `without its end the audit does not begin again`() async throws {
    try await ProviderFixture.run { fixture in
      try await record(fixture)
      try await fixture.change("DELETE FROM server_key WHERE name = 'audit_head'")
      let credentials = try fixture.credentials()
      let refused = await failure { () throws(ProviderFailure) in try await fixture.provider.login(credentials) }
      #expect(refused == .misconfigured(.embeddedFiles))
    }
  }

  @Test func `other programs cannot change or remove a record by mistake`() async throws {
    try await ProviderFixture.run { fixture in
      try await record(fixture)
      let triggers: StaticString = """
        SELECT count(*) FROM sqlite_schema
        WHERE type = 'trigger' AND tbl_name = 'audit' AND (sql LIKE '%BEFORE UPDATE%' OR sql LIKE '%BEFORE DELETE%')
        """
      #expect(try await fixture.number(triggers) == 2)
    }
  }

  @Test func `nothing of a user is in it but the account's identifier`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.challenge()
      _ = await failure { () throws(ProviderFailure) in try await fixture.provider.forgotPassword(email: "who@b.c") }
      try await fixture.provider.forgotPassword(email: "b@example.com")
      let personal: StaticString = """
        SELECT count(*) FROM audit
        WHERE ifnull(detail, '') || event LIKE '%example%' OR ifnull(detail, '') LIKE '%49%' OR detail LIKE '%who%'
        """
      #expect(try await fixture.number(personal) == 0)
      #expect(try await fixture.number("SELECT count(*) FROM audit WHERE account IS NULL") == 1)
    }
  }
}

extension LocalProvider {
  /// Adds records to the audit, all at once.
  fileprivate func addRecords(_ count: Int) throws(ProviderFailure) {
    try perform { database, now in
      try database.connection.transaction {
        for _ in 1...count { try database.audit.append(.loginSucceeded, account: nil, at: now) }
      }
    }
  }
}
