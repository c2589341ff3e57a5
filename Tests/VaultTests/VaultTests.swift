import BrokerCore
import BrokerProtocol
import Glibc
import LinuxSystem
import SQLite
import Sealing
import SecretMemory
import Testing
import Vault

@Suite struct VaultTests {
  @Test func `a handle never looks like an option of a command line`() async throws {
    let place = try TemporaryVault()
    let (vault, entropy) = try await Vault.open(path: place.path, key: place.key())
    #expect((0..<2000).allSatisfy { _ in entropy.handle().first != "-" })
    try await vault.close()
  }

  @Test func `everything is there after a restart`() async throws {
    let place = try TemporaryVault()
    let first = try await Vault.open(path: place.path, key: place.key())
    for record in try Sample.all() { try await first.vault.save(record) }
    try await first.vault.reserveSequences(through: UInt64.max - 1)
    try await first.vault.close()
    let second = try await Vault.open(path: place.path, key: place.key())
    let contents = try await second.vault.load()
    #expect(try contents.records == Sample.all() && contents.tampered.isEmpty)
    #expect(contents.lastSequence == UInt64.max - 1)
    #expect(try await second.vault.schemaVersion == 1)
    let token = try Secret(utf8: "fake")
    #expect(first.entropy.tokenID(of: token) == second.entropy.tokenID(of: token))
    #expect(first.entropy.tokenID(of: token).utf8.count == 16 && first.entropy.handle().utf8.count == 44)
    try await second.vault.close()
  }

  @Test func `what was acknowledged is in the files although nobody closed them`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    try await vault.save(Sample.living("a"))
    let copy = try TemporaryVault()
    for name in place.files { try copy.write(place.bytes(of: name), to: name) }
    let restarted = try await copy.open()
    #expect(try await restarted.load().records == [Sample.living("a")])
    try await restarted.close()
    try await vault.close()
  }

  @Test func `another key does not open it and changes nothing`() async throws {
    let place = try TemporaryVault()
    try await place.open().close()
    let before = try place.bytes(of: "vault.sqlite")
    await #expect {
      _ = try await Vault.open(path: place.path, key: SealingKey.random())
    } throws: { error in
      if case VaultError.wrongKey = error { true } else { false }
    }
    #expect(try place.bytes(of: "vault.sqlite") == before)
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
    for name in place.files {
      let bytes = try place.bytes(of: name)
      for mark in ["PLANTED-MARK", "UExBTlRFRC1NQVJL", "ann@example.com"] {
        #expect(!String(decoding: bytes, as: UTF8.self).contains(mark))
      }
      #expect(try FileStatus.ofLink(place.directory + "/" + name).permissions == 0o600)
    }
    try await vault.close()
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
    case .format: try place.tamper("UPDATE session SET format = 2 WHERE profile = 'a'")
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

  @Test func `a bit flipped in any byte of a sealed record is noticed`() async throws {
    let place = try TemporaryVault()
    let key = try place.key()
    let vault = try await place.open()
    try await vault.save(Sample.living("a"))
    try await vault.save(Sample.living("b"))
    try await vault.close()
    func sealed() throws -> [UInt8] {
      let connection = try SQLiteConnection(path: place.path, applicationID: 0x4142_5654)
      let row = try connection.prepare("SELECT sealed FROM session WHERE profile = 'a'")
      _ = try row.step()
      return try row.blob(at: 0)
    }
    let original = try sealed()
    for position in stride(from: 0, to: original.count, by: 7) {
      var flipped = original
      flipped[position] ^= 1
      do {
        let connection = try SQLiteConnection(path: place.path, applicationID: 0x4142_5654)
        let update = try connection.prepare("UPDATE session SET sealed = ?1 WHERE profile = 'a'")
        try update.bind(flipped, at: 1)
        try update.run()
      }
      let reopened = try await Vault.open(path: place.path, key: key).vault
      let contents = try await reopened.load()
      #expect(contents.tampered.count == 1 && contents.records.count == 1)
      try await reopened.close()
    }
  }

  @Test(arguments: ["keyCheck", "fingerprintKey", "sequence"])
  func `a forged value of the vault itself is noticed`(_ name: String) async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    try await vault.reserveSequences(through: 7)
    try await vault.close()
    do {
      let connection = try SQLiteConnection(path: place.path, applicationID: 0x4142_5654)
      let row = try connection.prepare("SELECT value FROM metadata WHERE name = ?1")
      try row.bind(name, at: 1)
      try #require(try row.step())
      var value = try row.blob(at: 0)
      value[value.count - 1] ^= 1
      let update = try connection.prepare("UPDATE metadata SET value = ?2 WHERE name = ?1")
      try update.bind(name, at: 1)
      try update.bind(value, at: 2)
      try update.run()
    }
    await #expect {
      let reopened = try await place.open()
      _ = try await reopened.load()
    } throws: { error in
      if case VaultError.damaged(name) = error { true } else { error as? StoreFailure == .tampered(profile: nil) }
    }
  }

  @Test func `a closed vault says so`() async throws {
    let vault = try await TemporaryVault().open()
    try await vault.close()
    try await vault.close()
    await #expect(throws: StoreFailure.failed(context: "The vault is closed.")) { try await vault.load() }
  }
}
