import BrokerCore
import BrokerProtocol
import Glibc
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

@Suite(.standardTimeLimit) struct LocalProviderLoginTests {
  @Test func `an account without a phone number is logged in at once`() async throws {
    try await ProviderFixture.run { fixture in
      let registered = try await fixture.session("  Ada@Example.COM ")
      #expect(registered.user?.email == "ada@example.com")
      #expect(registered.user?.name == "Ada")
      #expect(registered.user?.emailVerified == false)
      let session = try await fixture.provider.login(try fixture.credentials("ADA@example.com")).session
      #expect(session.user == registered.user)
      #expect(session.tokens.refreshToken != registered.tokens.refreshToken)
      #expect(fixture.outbox.isEmpty)
    }
  }

  @Test func `an address is taken however it is written`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      let again = Registration(email: " A@EXAMPLE.com", password: try Secret(utf8: ProviderFixture.password))
      #expect(
        await failure { () throws(ProviderFailure) in try await fixture.provider.register(again) }
          == .refused(.emailTaken))
    }
  }

  @Test func `every wrong field of a registration is named`() async throws {
    try await ProviderFixture.run { fixture in
      let registration = Registration(
        email: "nobody", password: try Secret(utf8: "1234567"), name: String(repeating: "n", count: 257),
        phoneNumber: "0151 1234567")
      let refused = await failure { () throws(ProviderFailure) in try await fixture.provider.register(registration) }
      #expect(refused == .refused(.validationFailed, fields: ["email", "password", "name", "phoneNumber"]))
    }
  }

  @Test func `an unknown address costs the provider as much as a wrong password`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      func hashes(_ email: String) async throws -> Int {
        let before = fixture.hashCount
        let credentials = try fixture.credentials(email, password: "not this one either")
        let refusal = await failure { () throws(ProviderFailure) in try await fixture.provider.login(credentials) }
        #expect(refusal == .refused(.invalidCredentials))
        return fixture.hashCount - before
      }
      #expect(try await hashes("a@example.com") == 1)
      #expect(try await hashes("unknown@example.com") == 1)
    }
  }

  @Test func `what is missing from a login is named`() async throws {
    try await ProviderFixture.run { fixture in
      let none = await failure { () throws(ProviderFailure) in
        try await fixture.provider.login(Credentials(email: nil, password: nil))
      }
      #expect(none == .refused(.missingCredential, fields: ["email", "password"]))
      let empty = Credentials(email: "a@example.com", password: try Secret(utf8: ""))
      let refused = await failure { () throws(ProviderFailure) in try await fixture.provider.login(empty) }
      #expect(refused == .refused(.missingCredential, fields: ["password"]))
    }
  }

  @Test func `an unknown account and a wrong password are refused alike, and slowed down alike`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session("known@example.com")
      for email in ["known@example.com", "unknown@example.com"] {
        let wrong = try fixture.credentials(email, password: "another password")
        for _ in 1...4 {
          let refused = await failure { () throws(ProviderFailure) in try await fixture.provider.login(wrong) }
          #expect(refused == .refused(.invalidCredentials))
        }
        let slowed = await failure { () throws(ProviderFailure) in try await fixture.provider.login(wrong) }
        #expect(slowed == .refused(.tooManyAttempts, retryAfter: .seconds(2)))
      }
    }
  }

  @Test func `the wait is durable, holds for the right password too, and ends`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      let wrong = try fixture.credentials(password: "another password")
      for _ in 1...4 { _ = await failure { () throws(ProviderFailure) in try await fixture.provider.login(wrong) } }
      await fixture.provider.shutDown()
      let right = try fixture.credentials()
      let successor = fixture.successor()
      let refused = await failure { () throws(ProviderFailure) in try await successor.login(right) }
      #expect(refused == .refused(.tooManyAttempts, retryAfter: .seconds(2)))
      fixture.clock.advance(.seconds(2))
      _ = try await successor.login(right).session
      // The count began anew.
      #expect(
        await failure { () throws(ProviderFailure) in try await successor.login(wrong) }
          == .refused(.invalidCredentials))
      await successor.shutDown()
    }
  }

  @Test func `the wait doubles up to a quarter of an hour`() {
    #expect((1...3).allSatisfy { ThrottleTable.delay(afterFailures: $0) == .zero })
    #expect((4...8).map { ThrottleTable.delay(afterFailures: $0) } == [2, 4, 8, 16, 32].map { .seconds($0) })
    #expect(ThrottleTable.delay(afterFailures: 13) == .seconds(900))
    #expect(ThrottleTable.delay(afterFailures: .max) == .seconds(900))
  }

  @Test func `files are private whatever the umask, and are made by the first call`() async throws {
    try await ProviderFixture.run { fixture in
      let old = umask(0)
      defer { umask(old) }
      #expect(fixture.names().isEmpty)
      _ = try await fixture.challenge()
      #expect(fixture.mode("local-provider") == 0o700)
      #expect(fixture.mode("local-provider/outbox") == 0o700)
      for name in fixture.names(in: "local-provider") where name != "outbox" {
        #expect(fixture.mode("local-provider/\(name)") == 0o600, "\(name)")
      }
      #expect(fixture.outbox == ["00000001.json"])
      #expect(fixture.mode("local-provider/outbox/00000001.json") == 0o600)
    }
  }

  @Test func `a second provider on the same files is refused until the first has let go`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      let second = fixture.successor()
      let credentials = try fixture.credentials()
      let refused = await failure { () throws(ProviderFailure) in try await second.login(credentials) }
      #expect(refused == .transient(.providerUnavailable))
      await fixture.provider.shutDown()
      _ = try await second.login(credentials).session
      await second.shutDown()
    }
  }

  @Test func `a stored hash that there is no memory for is not computed, and others are`() async throws {
    try await ProviderFixture.run { fixture in
      let credentials = try fixture.credentials()
      _ = try await fixture.session()
      await fixture.provider.shutDown()
      let scarce = fixture.successor(availableMemory: 1 << 30)
      _ = try await scarce.login(credentials).session
      await scarce.shutDown()
      // Ten passes over a GiB, the most that is ever computed; it is of another password.
      try await fixture.change(
        """
        UPDATE account SET password_hash = CAST('$argon2id$v=19$m=1048576,t=10,p=1$c29tZXNhbHQ$\
        nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4' AS BLOB)
        """)
      let refused = await failure { () throws(ProviderFailure) in try await scarce.login(credentials) }
      #expect(refused == .transient(.providerUnavailable))
      await scarce.shutDown()
    }
  }

  @Test func `a directory that cannot be made, or a damaged database, is told apart from a passing trouble`()
    async throws
  {
    try await ProviderFixture.run { fixture in
      let nowhere = LocalProvider(
        stateDirectory: "/proc/no-such-place", configuration: fixture.configuration, passwordHash: .smallest,
        sealingKey: { [held = fixture.held] in held.key })
      let credentials = try fixture.credentials()
      let failed = await failure { () throws(ProviderFailure) in try await nowhere.login(credentials) }
      #expect(failed == .transient(.providerUnavailable))
      await nowhere.shutDown()
      _ = try await fixture.session()
      await fixture.provider.shutDown()
      truncate(fixture.directory + "/db.sqlite", 5000)
      let damaged = await failure { () throws(ProviderFailure) in try await fixture.provider.login(credentials) }
      #expect(damaged == .misconfigured(.embeddedFiles))
    }
  }

  @Test(arguments: [
    ("+49 151 1234567", "+49 ••• ••67"), ("+1 (555) 010-9999", "+1 ••• ••99"), ("+353 87 123 4567", "+353 ••• ••67"),
  ])
  func `a phone number shows its country and two digits`(input: String, masked: String) {
    #expect(PhoneNumber(input)?.masked == masked)
  }

  @Test(arguments: ["", "+", "+0123456789", "123456789", "+123456", "+1234567890123456", "++12345678", "+12345678x"])
  func `what is no phone number is refused`(input: String) {
    #expect(PhoneNumber(input) == nil)
  }
}
