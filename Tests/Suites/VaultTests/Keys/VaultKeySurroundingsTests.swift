import BrokerCore
import BrokerProtocol
import Sealing
import SecretMemory
import TestSupport
import Testing
import Vault

/// What lies around a vault's keys: the key file before, the embedded provider's key, the count of wrong passphrases.
@Suite(.standardTimeLimit) struct VaultKeySurroundingsTests {
  @Test func `the key file before a rekey is kept until the new one has opened the vault`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    let old = try place.bytes(of: "vault.key")
    let copy = try place.copy()
    try await vault.rekey(Rekey.Params())
    #expect(try place.bytes(of: "vault.key.previous") == old && place.bytes(of: "vault.key") != old)
    try await vault.close()
    // A copy of the vault from before still opens by it.
    try copy.write(place.bytes(of: "vault.key.previous"), to: "vault.key")
    try await copy.open().close()
    try await place.open().close()
    #expect(place.files == ["vault.key", "vault.sqlite"])
  }

  @Test func `a rekey keeps the key of the embedded provider`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    let key = vault.providerKey.key?.id
    #expect(key != nil)
    try await vault.rekey(Rekey.Params())
    #expect(vault.providerKey.key?.id == key)
    await vault.lock()
    #expect(vault.providerKey.key == nil)
    try await vault.close()
    let again = try await place.open()
    #expect(again.providerKey.key?.id == key)
    try await again.close()
    let other = try TemporaryVault()
    let stranger = try await other.open()
    #expect(stranger.providerKey.key?.id != key)
    try await stranger.close()
  }

  @Test func `a derivation that there is no memory for is refused before it begins`() throws {
    let kind = KeyEncryption(KeySourceSettings(keyFilePath: nil), availableMemory: { 256 << 20 })
    #expect(throws: KeySourceError.notEnoughMemory(kiB: 256 << 10)) {
      _ = try kind.newKey(from: .passphrase, passphrase: Secret(utf8: "fake passphrase"))
    }
  }

  @Test(arguments: [KeySourceName.passphrase, .credential, .command])
  func `a stored derivation that there is no memory for is refused before it begins`(_ source: KeySourceName) throws {
    let place = try KeyPlace()
    try place.scratch.write("from the service manager", to: "secret")
    let kind = KeyEncryption(place.settings(command: ["/bin/echo", "a secret"]), availableMemory: { 256 << 20 })
    // The most that is ever computed for a key: a row that somebody has changed.
    let forged = WrappedKey(
      dataKeyID: try SealingKey.random().id, source: source,
      derivation: try KeyDerivation.Parameters(passes: 3, memoryKiB: 256 << 10, salt: Array(0...15)), box: [])
    let expected = KeyRingError.unavailable(.notEnoughMemory(kiB: 256 << 10))
    let passphrase = try Secret(utf8: "fake passphrase")
    #expect(
      keyRingError { _ = try kind.unwrap(forged, vaultID: place.vaultID, passphrase: passphrase) } == expected)
  }

  @Test func `wrong passphrases are kept beside the vault, and an unreadable count is many`() async throws {
    let place = try TemporaryVault()
    let vault = try await place.open()
    #expect(await vault.status.passphraseFailures == .none)
    let failures = PassphraseFailures(count: 3, lastAt: Timestamp(milliseconds: 999_000_000))
    await vault.keep(failures)
    try await vault.close()
    let again = try await place.open()
    #expect(await again.status.passphraseFailures == failures)
    try place.write(Array("x".utf8), to: "vault.sqlite.attempts")
    #expect(await again.status.passphraseFailures.count >= 8)
    await again.keep(.none)
    #expect(await again.status.passphraseFailures == .none && !place.files.contains("vault.sqlite.attempts"))
    try await again.close()
  }
}
