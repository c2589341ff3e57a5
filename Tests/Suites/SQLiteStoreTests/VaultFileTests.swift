import BrokerCore
import BrokerProtocol
import Glibc
import LinuxSystem
import Records
import SQLiteStore
import TestSupport
import Testing

/// What happens to the vault's file behind the vault's back.
@Suite(.standardTimeLimit) struct VaultFileTests {
  /// A closed vault with a record.
  private func make() async throws -> TemporaryVault {
    let place = try TemporaryVault()
    let vault = try await place.open()
    try await vault.save(Sample.living("a"))
    try await vault.close()
    return place
  }

  @Test func `a file that was emptied is no new vault, and is left as it was`() async throws {
    let place = try await make()
    try place.write([], to: "vault.sqlite")
    await #expect {
      _ = try await place.locked()
    } throws: { error in
      guard case VaultError.damaged? = error as? VaultError else { return false }
      return "\(error)".contains("empty") && "\(error)".contains("restore it from a backup, or move all its files")
    }
    #expect(place.scratch.size("vault.sqlite") == 0 && place.elsewhere.names == ["vault.anchor"])
  }

  @Test func `an emptied file that nothing vouches for but its reserve is no new vault either`() async throws {
    let place = try TemporaryVault()
    try await place.open(isAnchored: false).close()
    try place.write([], to: "vault.sqlite")
    await #expect(throws: VaultError.self) { _ = try await place.locked(isAnchored: false) }
    #expect(place.scratch.size("vault.sqlite") == 0)
    // Removed, it is a wish to begin anew, also where the first passphrase has still to come.
    try DirectoryEntry.remove(place.path)
    for _ in 0..<2 { try await place.locked(.passphrase, isAnchored: false).close() }
  }

  @Test func `an emptied file beside its log, which holds everything, does not cost the log`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open(isAnchored: false)
    try await vault.save(Sample.living("a"))
    let copy = try place.copy()
    try await vault.close()
    let bytes = try copy.bytes(of: "vault.sqlite")
    try copy.write([], to: "vault.sqlite")
    await #expect(throws: VaultError.self) { _ = try await copy.locked(isAnchored: false) }
    #expect(try #require(copy.scratch.size("vault.sqlite-wal")) > 0)
    try copy.write(bytes, to: "vault.sqlite")
    let restored = try await copy.open(isAnchored: false)
    #expect(try await restored.load().records.count == 1)
    try await restored.close()
  }

  @Test func `a file that was removed is a wish to begin anew, and so is an empty one of which nobody knows`()
    async throws
  {
    let place = try await make()
    try DirectoryEntry.remove(place.path)
    for _ in 0..<2 {
      let waiting = try await place.locked(.passphrase)
      #expect(await !waiting.status.isInitialized)
      try await waiting.close()
    }
    let vault = try await place.open()
    #expect(try await vault.load().records.isEmpty)
    try await vault.close()
    let other = try TemporaryVault()
    try other.write([], to: "vault.sqlite")
    let new = try await other.open()
    #expect(try await new.load().records.isEmpty)
    try await new.close()
  }

  @Test func `the key file's list of users vouches for a vault without an anchor`() async throws {
    let place = try TemporaryVault()
    let keyPath = place.elsewhere.file("vault.key")
    func open() async throws -> Vault {
      let vault = try await Vault.open(
        path: place.path, settings: KeySourceSettings(keyFilePath: keyPath), now: { 1_000_000_000 })
      try await vault.unlock(nil)
      return vault
    }
    try await open().close()
    try place.write([], to: "vault.sqlite")
    await #expect(throws: VaultError.self) { _ = try await open() }
    try DirectoryEntry.remove(place.path)
    try await open().close()
  }

  @Test(arguments: [false, true])
  func `nothing is written into a file that was removed or replaced, and that is told`(_ isReplaced: Bool) async throws
  {
    let place = try await make()
    let vault = try await place.open()
    let bytes = try place.bytes(of: "vault.sqlite")
    #expect(rename(place.path, place.path + ".away") == 0)
    if isReplaced { try place.write(bytes, to: "vault.sqlite") }
    await #expect(throws: StoreFailure.tampered(profile: nil)) {
      try await vault.save(Sample.living("a", generation: 2))
    }
    let findings = try await vault.check(isFull: false).filter(\.isError)
    #expect(findings.map(\.kind) == ["tampered"] && findings.first?.message.contains("removed or replaced") == true)
    // What is there can still be read, and once the file is back everything goes on.
    #expect(try await vault.load().records.map(\.generation) == [1])
    #expect(rename(place.path + ".away", place.path) == 0)
    try await vault.save(Sample.living("a", generation: 3))
    #expect(try await vault.check(isFull: true).filter(\.isError).isEmpty)
    try await vault.close()
    let again = try await place.open()
    #expect(try await again.load().records.map(\.generation) == [3])
    try await again.close()
  }

  @Test(arguments: [false, true])
  func `a vault that was moved with its directory takes what comes, and has it at the next start`(
    _ isReplaced: Bool
  ) async throws {
    let place = try await make()
    let vault = try await place.open()
    let bytes = try place.bytes(of: "vault.sqlite")
    let away = Scratch()
    #expect(rename(place.directory, away.path) == 0)
    if isReplaced {
      #expect(mkdir(place.directory, 0o700) == 0)
      try place.write(bytes, to: "vault.sqlite")
    }
    try await vault.save(Sample.living("a", generation: 2))
    #expect(try await vault.check(isFull: true).filter(\.isError).isEmpty)
    try await vault.close()
    if isReplaced { try DirectoryEntry.remove(place.path) }
    #expect(rename(away.path, place.directory) == 0)
    let again = try await place.open()
    #expect(try await again.load().records.map(\.generation) == [2])
    try await again.close()
  }

  @Test func `a new key from a passphrase asks for the new one`() async throws {
    let place = try await make()
    let vault = try await place.open()
    await #expect {
      try await vault.rekey(Rekey.Params(keySource: .passphrase))
    } throws: { error in
      guard case KeyFailure.passphraseUnsuitable(let why)? = error as? KeyFailure else { return false }
      return why.contains("/newPassphrase")
    }
    try await vault.close()
  }
}
