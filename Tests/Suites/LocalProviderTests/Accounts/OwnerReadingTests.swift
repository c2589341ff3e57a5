import BrokerCore
import BrokerProtocol
import JSON
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// What the owner of the state directory reads: the outbox and the audit.
@Suite(.standardTimeLimit) struct OwnerReadingTests {
  // MARK: The outbox

  @Test func `a message is read as it was written, until its code is used`() async throws {
    try await ProviderFixture.run { fixture in
      #expect(try await fixture.provider.messages().isEmpty)
      let challenge = try await fixture.challenge()
      let message = try #require(try await fixture.provider.messages().first)
      #expect(message.recipient == "+491511234567" && message.method == .sms && message.token == nil)
      #expect(message.createdAt == fixture.clock.now && message.expiresAt == challenge.expiresAt)
      let written = try fixture.message()
      let (code, body) = (try fixture.sentCode(), try Secret(utf8: written.required("body").string()))
      #expect(message.code == code && message.body == body)
      let subject = try written.required("subject").string()
      #expect(subject == message.subject)
      _ = try await fixture.provider.verifyOTP(flow: challenge.flow, code: code)
      #expect(try await fixture.provider.messages().isEmpty)
    }
  }

  @Test func `messages are read in the order of writing, those of expired codes never`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.challenge("b@example.com")
      fixture.clock.advance(.seconds(200))
      _ = try await fixture.challenge("c@example.com")
      let numbers = try await fixture.provider.messages().map(\.number)
      #expect(numbers.count == 2 && numbers == numbers.sorted())
      fixture.clock.advance(.seconds(100))
      #expect(try await fixture.provider.messages().map(\.number) == numbers.suffix(1))
    }
  }

  @Test func `a token for a new password is read too`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      try await fixture.provider.forgotPassword(email: "a@example.com")
      let message = try #require(try await fixture.provider.messages().last)
      #expect(try fixture.sentToken() == message.token)
      #expect(message.code == nil && message.method == .email)
    }
  }

  @Test(arguments: ["", "{", "[]", #"{"to":7}"#, #"{"to":"a","method":"pigeon","subject":"s","body":"b"}"#])
  func `a file that another program has spoilt is passed over`(text: String) async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.challenge("b@example.com")
      _ = try await fixture.challenge("c@example.com")
      let name = try #require(fixture.outbox.first)
      try fixture.overwrite("outbox/\(name)", with: text)
      #expect(try await fixture.provider.messages().count == 1)
    }
  }

  @Test func `of too many for one answer the newest messages are read`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      try await fixture.change(
        """
        WITH RECURSIVE counted(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM counted WHERE i < 201)
        INSERT INTO message (account, expires_at) SELECT account.id, 1900000000000 FROM counted, account
        """)
      #expect(try await fixture.provider.listedMessages() == Array(2...201))
    }
  }

  // MARK: The audit

  private func records(_ fixture: ProviderFixture, since: Int?, limit: Int) async throws -> [LocalAuditRecord] {
    try await fixture.provider.audit(since: since, limit: limit).records
  }

  @Test func `the newest records are read, or those after a number, the oldest first`() async throws {
    try await ProviderFixture.run { fixture in
      for email in ["a@example.com", "b@example.com"] { _ = try await fixture.session(email) }
      let all = try await fixture.provider.audit(since: nil, limit: 100)
      #expect(all.records.map(\.number) == [1, 2, 3, 4] && all.isIntact)
      #expect(all.records.first?.event == "accountRegistered" && all.records.first?.time == fixture.clock.now)
      #expect(all.records.allSatisfy { $0.user != nil })
      #expect(try await records(fixture, since: nil, limit: 3) == Array(all.records.suffix(3)))
      #expect(try await records(fixture, since: 1, limit: 2) == Array(all.records[1...2]))
      for (since, limit) in [(4, 10), (Int.max, 10), (0, 0)] {
        #expect(try await records(fixture, since: since, limit: limit).isEmpty)
      }
      #expect(try await records(fixture, since: Int.min, limit: 10) == all.records)
    }
  }

  @Test(
    arguments: [
      "DELETE FROM audit WHERE number = 2", "UPDATE audit SET event = 'loginRefused' WHERE number = 2",
    ] as [StaticString])
  func `a log that was changed is told as such, with what is left of it`(_ change: StaticString) async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      try await fixture.change(change)
      let log = try await fixture.provider.audit(since: nil, limit: 100)
      #expect(!log.isIntact && log.records.first?.number == 1)
    }
  }
}

extension LocalProvider {
  /// The numbers of the messages whose files are read for the owner.
  fileprivate func listedMessages() throws(ProviderFailure) -> [Int64] {
    try perform { database, now in
      try AccountListing(connection: database.connection, idleLifetime: .zero, now: now).messages().map(\.number)
    }
  }
}
