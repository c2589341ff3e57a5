import BrokerCore
import BrokerProtocol
import LinuxSystem
import Sealing
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// Databases of earlier versions of this program.
@Suite(.standardTimeLimit) struct LocalSchemaTests {
  private static let password = "k8#mQ2xz"
  private static let refreshToken = "an earlier refresh token"

  /// Fills the database of a fixture, whose provider has not opened it yet.
  private func prepare(_ fixture: ProviderFixture, version: Int32) throws -> EarlierDatabase {
    let earlier = try EarlierDatabase(version: version, in: fixture)
    try earlier.addAccount("ada", "a@example.com", password: Self.password)
    try earlier.addAccount("bob", "b@example.com", phone: "+491511234567", password: Self.password)
    try earlier.addFlow(of: "bob")
    try earlier.addSession(of: "ada", refreshToken: Self.refreshToken)
    try earlier.close()
    return earlier
  }

  @Test(arguments: [1, 2] as [Int32])
  func `accounts, sessions and the signing key of an earlier schema stay`(_ version: Int32) async throws {
    try await ProviderFixture.run { fixture in
      let earlier = try prepare(fixture, version: version)
      let provider = fixture.provider
      let seed = earlier.signingKey
      let signingKey = try Ed25519SigningKey(seed: Secret(copying: seed.span))
      #expect(try await provider.publicKey().bytes == signingKey.publicKey.bytes)
      let tokens = try await provider.refresh(BoundToken(Secret(utf8: Self.refreshToken)))
      let user = try await provider.currentUser(accessToken: tokens.accessToken)
      #expect(user.id == "ada" && user.emailVerified == false && tokens.scopes == ["read"])
      _ = try await provider.login(fixture.credentials(password: Self.password)).session
      let credentials = try fixture.credentials("b@example.com", password: Self.password)
      // No code has come back from its number: the factor does not count.
      #expect(try await provider.login(credentials).session.user?.twoFactor == "off")
      #expect(try await provider.isAuditIntact())
    }
  }

  @Test func `what the new columns say of earlier rows is what held before`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try prepare(fixture, version: 2)
      _ = try await fixture.provider.publicKey()
      #expect(try await fixture.number("PRAGMA user_version") == 5)
      for query: StaticString in [
        "SELECT count(*) FROM account WHERE second_factor = 'sms' AND phone IS NOT NULL",
        "SELECT count(*) FROM account WHERE second_factor = 'off' AND phone IS NULL",
        "SELECT count(*) FROM otp_flow WHERE method = 'sms'", "SELECT count(*) FROM message WHERE purpose = 'login'",
        "SELECT count(*) FROM token_family WHERE auth_time = 0 AND amr = ''",
        "SELECT count(*) FROM signing_key WHERE retired_at IS NULL",
      ] {
        #expect(try await fixture.number(query) == 1, "\(query)")
      }
      #expect(try await fixture.number("SELECT count(*) FROM server_key WHERE name = 'signing'") == 0)
    }
  }

  @Test func `a database of the third schema has the columns and the table of this one`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      _ = try await fixture.challenge()
      for statement: StaticString in [
        "UPDATE account SET phone = '+15550100', second_factor = 'sms' WHERE phone IS NULL",
        "ALTER TABLE account DROP COLUMN phone_verified_at", "DROP TABLE sent_code",
        "CREATE TABLE sent_code (account TEXT NOT NULL, share TEXT NOT NULL, at INTEGER NOT NULL) STRICT",
        "INSERT INTO sent_code SELECT id, 'other', created_at FROM account",
        "ALTER TABLE enrolment RENAME TO totp_enrolment",
        "ALTER TABLE totp_enrolment DROP COLUMN method", "ALTER TABLE totp_enrolment DROP COLUMN destination",
        "ALTER TABLE totp_enrolment DROP COLUMN code_length", "PRAGMA user_version = 3",
      ] { try await fixture.change(statement) }
      _ = try await fixture.provider.login(fixture.credentials()).challenge
      #expect(try await fixture.number("PRAGMA user_version") == 5)
      // The one that had a session, and so had received a code.
      let verified: StaticString =
        "SELECT count(*) FROM account WHERE (phone_verified_at IS NULL) = (email = 'b@example.com')"
      #expect(try await fixture.number(verified) == 2)
      #expect(try await fixture.number("SELECT count(*) FROM sent_code WHERE destination IS NOT NULL") == 0)
      #expect(try await fixture.provider.isAuditIntact())
    }
  }

  @Test func `a new database has the tables of one that was brought over`() async throws {
    let count: StaticString = "SELECT count(*) FROM sqlite_schema"
    let size: StaticString = "SELECT sum(length(sql)) FROM sqlite_schema"
    var numbers: [[Int64]] = []
    for isNew in [true, false] {
      try await ProviderFixture.run { fixture in
        if !isNew { _ = try prepare(fixture, version: 2) }
        _ = try await fixture.provider.publicKey()
        numbers.append([try await fixture.number(count), try await fixture.number(size)])
      }
    }
    #expect(numbers[0] == numbers[1])
  }

  @Test func `an earlier database of another vault stays as it is, until a person asks for new keys`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try prepare(fixture, version: 2)
      let right = fixture.held.key
      fixture.held.key = try SealingKey.random()
      let refused = await failure { () throws(ProviderFailure) in try await fixture.provider.publicKey() }
      #expect(refused == .misconfigured(.embeddedFiles))
      #expect(try await fixture.number("PRAGMA user_version") == 2)
      try FileDescriptor.open(fixture.directory + "/renew-keys", [.write, .create]).close()
      let token = try BoundToken(Secret(utf8: Self.refreshToken))
      let ended = await failure { () throws(ProviderFailure) in try await fixture.provider.refresh(token) }
      #expect(ended == .sessionEnded(.refreshRejected))
      _ = try await fixture.provider.login(fixture.credentials(password: Self.password)).session
      await fixture.provider.shutDown()
      fixture.held.key = right
      let late = await failure { () throws(ProviderFailure) in try await fixture.provider.publicKey() }
      #expect(late == .misconfigured(.embeddedFiles))
    }
  }

  @Test func `new keys leave every account a factor, though the secrets of apps are lost`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try prepare(fixture, version: 2)
      _ = try await fixture.provider.publicKey()
      try await fixture.change("UPDATE account SET second_factor = 'totp'")
      try await fixture.change(
        "INSERT INTO totp (account, secret, last_step, enrolled_at) SELECT id, x'00', 0, 0 FROM account")
      fixture.held.key = try SealingKey.random()
      try FileDescriptor.open(fixture.directory + "/renew-keys", [.write, .create]).close()
      _ = try await fixture.provider.publicKey()
      #expect(try await fixture.number("SELECT count(*) FROM totp") == 0)
      #expect(try await fixture.number("SELECT count(*) FROM account WHERE second_factor = 'sms'") == 1)
      #expect(try await fixture.number("SELECT count(*) FROM account WHERE second_factor = 'email'") == 1)
    }
  }
}
