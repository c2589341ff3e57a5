import BrokerCore
import BrokerProtocol
import Glibc
import LinuxSystem
import Records
import SQLite
import SQLiteStore
import Sealing
import SecretMemory
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct VaultTests {
  @Test func `a handle never looks like an option of a command line`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    #expect((0..<2000).allSatisfy { _ in vault.entropy.handle().first != "-" })
    try await vault.close()
  }

  @Test func `everything is there after a restart`() async throws {
    let place = try TemporaryVault()
    let first = try await place.open()
    for record in try Sample.all() { try await first.save(record) }
    try await first.reserveSequences(through: UInt64.max - 1)
    let token = try Secret(utf8: "fake")
    let name = first.entropy.tokenID(of: token)
    try await first.close()
    let second = try await place.open()
    let contents = try await second.load()
    #expect(try contents.records == Sample.all() && contents.tampered.isEmpty && !contents.isSuspect)
    #expect(contents.lastSequence == UInt64.max - 1)
    #expect(await second.status.schemaVersion == 7)
    #expect(second.entropy.tokenID(of: token) == name)
    #expect(name.utf8.count == 16 && second.entropy.handle().utf8.count == 44)
    try await second.close()
  }

  @Test func `what was acknowledged is in the files although nobody closed them`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    try await vault.save(Sample.living("a"))
    let restarted = try await place.copy().open()
    let contents = try await restarted.load()
    #expect(try contents.records == [Sample.living("a")] && !contents.isSuspect)
    try await restarted.close()
    try await vault.close()
  }

  @Test func `a second connection is refused`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    await #expect {
      _ = try await place.open()
    } throws: { error in
      if case VaultError.inUse = error { true } else { false }
    }
    try await vault.close()
  }

  @Test func `no file of the vault holds a token and none is open to others`() async throws {
    let mask = umask(0)
    defer { umask(mask) }
    let place = try TemporaryVault()
    let vault = try await place.open()
    try await vault.save(Sample.living("a", token: "PLANTED-MARK"))
    #expect(place.files.contains("vault.sqlite-wal"))
    for name in place.scratch.names {
      let bytes = try place.bytes(of: name)
      for mark in ["PLANTED-MARK", "UExBTlRFRC1NQVJL", "ann@example.com"] {
        #expect(!String(decoding: bytes, as: UTF8.self).contains(mark))
      }
      #expect(try FileStatus.ofLink(place.directory + "/" + name).permissions == 0o600)
    }
    try await vault.close()
  }

  @Test func `the sealed tokens of a session that ended do not linger in the files`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    try await vault.save(Sample.living("a"))
    let sealed = try boxes(of: place.copy())
    #expect(try contains(place, sealed[0]))
    try await vault.save(
      SessionRecord(
        profile: Sample.profile("a"), binding: ProviderBinding(type: "oidc"), generation: 2,
        contents: .signedOut(at: Timestamp(milliseconds: 1))))
    // It happens after the answer, on the vault's own thread.
    let end = Patience.end
    while place.scratch.size("vault.sqlite-wal") != 0, BootClock.now < end { _ = await vault.status }
    #expect(try !contains(place, sealed[0]))
    try await vault.close()
  }

  private func boxes(of place: TemporaryVault) throws -> [[UInt8]] {
    try place.withConnection { try SealedCells.session.cells($0).map(\.box) }
  }

  /// Whether the tag of a box is anywhere in the files.
  private func contains(_ place: TemporaryVault, _ box: [UInt8]) throws -> Bool {
    let tag = String(
      decoding: box.suffix(16).flatMap { [UInt8(97 + ($0 >> 4)), UInt8(97 + ($0 & 15))] }, as: UTF8.self)
    return try place.files.contains { name in
      let bytes = try place.bytes(of: name)
      return String(decoding: bytes.flatMap { [UInt8(97 + ($0 >> 4)), UInt8(97 + ($0 & 15))] }, as: UTF8.self)
        .contains(tag)
    }
  }

  enum Forgery: CaseIterable, Sendable { case sealed, generation, issuer, client, type, format, swap }

  @Test(arguments: Forgery.allCases)
  func `a forged record is named, the others load, and it can be saved anew`(_ forgery: Forgery) async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    for name in ["a", "b", "c"] { try await vault.save(Sample.living(name, generation: 5)) }
    try await vault.close()
    switch forgery {
    case .sealed: try place.tamper("UPDATE session SET sealed = zeroblob(length(sealed)) WHERE profile = 'a'")
    case .generation: try place.tamper("UPDATE session SET generation = 9223372036854775807 WHERE profile = 'a'")
    case .issuer: try place.tamper("UPDATE session SET issuer = 'https://evil.example' WHERE profile = 'a'")
    case .client: try place.tamper("UPDATE session SET client_id = 'x' WHERE profile = 'a'")
    case .type: try place.tamper("UPDATE session SET provider_type = 'rest' WHERE profile = 'a'")
    case .format: try place.tamper("UPDATE session SET format = 3 WHERE profile = 'a'")
    case .swap:
      try place.tamper(
        "UPDATE session SET sealed = (SELECT sealed FROM session WHERE profile = 'c') WHERE profile = 'a'")
    }
    let reopened = try await place.open()
    let contents = try await reopened.load()
    #expect(contents.tampered.map(\.description) == ["a"])
    #expect(contents.records.map(\.profile.description) == ["b", "c"])
    let fresh = try Sample.living("a", generation: 1)
    try await reopened.save(fresh)
    #expect(try await reopened.load().records.first == fresh)
    try await reopened.close()
  }

  @Test func `a closed vault says so`() async throws {
    let vault = try await TemporaryVault().open()
    try await vault.close()
    try await vault.close()
    await #expect(throws: StoreFailure.failed(context: "The vault is closed.")) { try await vault.load() }
  }

  @Test func `what a provider says at great length comes back, and is not taken for tampering`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    let long = String(repeating: "long", count: 100_000)
    var login = try Sample.login("a")
    var challenge = try Sample.challenge("a")
    challenge.maskedDestination = long
    login.login.step = .code(challenge)
    var event = try Sample.event(1)
    event.payload = .login(LoginEvent(userID: long, method: "password"))
    try await vault.commit([.openLogin(login), .event(event)])
    try await vault.close()
    let again = try await place.open()
    let contents = try await again.load()
    #expect(contents.pendingLogins == [login] && contents.tampered.isEmpty)
    #expect(try await again.events(after: 0, through: 1).events == [event])
    try await again.close()
  }
}
