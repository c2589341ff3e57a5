import BrokerCore
import BrokerProtocol
import Glibc
import LinuxSystem
import SQLite
import Sealing
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// The provider's own keys, sealed, and the files that hold them.
@Suite(.timeLimit(.minutes(2)), .standardTimeLimit) struct LocalKeyTests {
  private static let applicationID: Int32 = 0x4142_4C50

  private func withDatabase<R>(_ fixture: ProviderFixture, _ body: (SQLiteConnection) throws -> R) throws -> R {
    let connection = try SQLiteConnection(path: fixture.directory + "/db.sqlite", applicationID: Self.applicationID)
    let result = try body(connection)
    try connection.close()
    return result
  }

  private func contains(_ fixture: ProviderFixture, _ key: [UInt8]) throws -> Bool {
    try fixture.names(in: "local-provider").filter { $0.hasPrefix("db.sqlite") }.contains { name in
      let bytes = try fixture.contents(name)
      return bytes.indices.contains { bytes[$0...].starts(with: key) }
    }
  }

  @Test func `no key lies in the clear`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      let least = try await fixture.number("SELECT min(length(value)) FROM server_key")
      #expect(least == Int64(32 + SealedBox.overheadByteCount))
      #expect(try await fixture.number("SELECT count(*) FROM server_key") == 2)
      #expect(try await fixture.number("SELECT min(length(value)) FROM signing_key") == least)
    }
  }

  @Test func `keys of the first schema are sealed, and sessions go on`() async throws {
    try await ProviderFixture.run { fixture in
      let earlier = try EarlierDatabase(version: 1, in: fixture)
      try earlier.addAccount("ada", "a@example.com", password: ProviderFixture.password)
      try earlier.close()
      let (signing, mac) = (earlier.signingKey, earlier.macKey)
      #expect(try contains(fixture, signing) && contains(fixture, mac))
      let session = try await fixture.provider.login(fixture.credentials()).session
      #expect(try !contains(fixture, signing) && !contains(fixture, mac))
      await fixture.provider.shutDown()
      #expect(try !contains(fixture, signing) && !contains(fixture, mac))
      let again = fixture.successor()
      _ = try await again.refresh(#require(session.tokens.refreshToken))
      await again.shutDown()
    }
  }

  @Test func `while the vault is locked there are no keys, and afterwards the same`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      let key = fixture.held.key
      fixture.held.key = nil
      let refused = await failure { () throws(ProviderFailure) in
        try await fixture.provider.currentUser(accessToken: session.tokens.accessToken)
      }
      #expect(refused == .transient(.vaultLocked))
      fixture.held.key = key
      _ = try await fixture.provider.currentUser(accessToken: session.tokens.accessToken)
    }
  }

  @Test(arguments: [false, true])
  func `keys that cannot be opened are an error, and never made again by themselves`(_ isDamaged: Bool) async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      await fixture.provider.shutDown()
      let right = fixture.held.key
      if isDamaged {
        try withDatabase(fixture) { try $0.execute("DELETE FROM server_key WHERE name = 'mac'") }
      } else {
        fixture.held.key = try SealingKey.random()
      }
      let before = try fixture.contents("db.sqlite")
      let other = fixture.successor()
      let credentials = try fixture.credentials()
      let refused = await failure { () throws(ProviderFailure) in try await other.login(credentials) }
      #expect(refused == .misconfigured(.embeddedFiles))
      let finding = await (other as any AuthProvider).examine().last
      #expect(finding?.advice?.contains("renew-keys") == true, "\(String(describing: finding))")
      await other.shutDown()
      #expect(try fixture.contents("db.sqlite") == before)
      guard !isDamaged else { return }
      fixture.held.key = right
      let again = fixture.successor()
      _ = try await again.login(fixture.credentials()).session
      await again.shutDown()
    }
  }

  @Test func `a person can ask for new keys, which keeps accounts and ends logins`() async throws {
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session()
      await fixture.provider.shutDown()
      let renewal = fixture.directory + "/renew-keys"
      try FileDescriptor.open(renewal, [.write, .create]).close()
      // Not while the keys open: nothing is lost by a file that was forgotten.
      let unharmed = fixture.successor()
      let tokens = try await unharmed.refresh(#require(session.tokens.refreshToken))
      await unharmed.shutDown()
      fixture.held.key = try SealingKey.random()
      let renewed = fixture.successor()
      let token = try #require(tokens.refreshToken)
      let refused = await failure { () throws(ProviderFailure) in try await renewed.refresh(token) }
      #expect(refused == .sessionEnded(.refreshRejected))
      _ = try await renewed.login(fixture.credentials()).session
      #expect(!fixture.names(in: "local-provider").contains("renew-keys"))
      #expect(try await renewed.isAuditIntact())
      #expect(try await renewed.auditEvents().suffix(2) == ["keysRenewed", "loginSucceeded"])
      await renewed.shutDown()
    }
  }

  /// What can happen to the database of accounts.
  enum Loss: CaseIterable, Sendable { case emptied, withoutTables, removed, log }

  @Test(arguments: Loss.allCases)
  func `a database that held something is not made again`(_ loss: Loss) async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      let path = fixture.directory + "/db.sqlite"
      // What a kill leaves: the account is in the log.
      let image = try ["db.sqlite", "db.sqlite-wal"].map { ($0, try fixture.contents($0)) }
      await fixture.provider.shutDown()
      switch loss {
      case .emptied: truncate(path, 0)
      case .withoutTables:
        unlink(path)
        try SQLiteConnection(path: path, applicationID: Self.applicationID).close()
      case .removed: unlink(path)
      case .log:
        for (name, bytes) in image {
          try FileDescriptor.open(fixture.directory + "/" + name, [.write, .create, .truncate]).writeAll(bytes.span)
        }
        unlink(path)
        unlink(fixture.directory + "/db.sqlite.made")
      }
      let other = fixture.successor()
      let credentials = try fixture.credentials()
      let refused = await failure { () throws(ProviderFailure) in try await other.login(credentials) }
      #expect(refused == .misconfigured(.embeddedFiles))
      #expect(await (other as any AuthProvider).examine().last?.message.contains("is now empty or missing") == true)
      await other.shutDown()
    }
  }

  private static let files = ["db.sqlite", "db.sqlite-wal", "db.sqlite-journal", "db.sqlite-shm"]

  @Test(arguments: files, Obstacle.own)
  func `what is no file in the place of one is refused and named`(_ name: String, _ obstacle: Obstacle) async throws {
    try await expectRefusal(name, obstacle)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can make a device"), arguments: files)
  func `a device in the place of a file is refused and named`(_ name: String) async throws {
    try await expectRefusal(name, .device)
  }

  private func expectRefusal(_ name: String, _ obstacle: Obstacle) async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      await fixture.provider.shutDown()
      try obstacle.put(at: fixture.directory + "/" + name)
      let other = fixture.successor()
      let credentials = try fixture.credentials()
      let refused = await failure { () throws(ProviderFailure) in try await other.login(credentials) }
      #expect(refused == .misconfigured(.embeddedFiles))
      #expect(await (other as any AuthProvider).examine().last?.message.contains(name) == true)
      await other.shutDown()
    }
  }
}
