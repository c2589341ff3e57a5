import BrokerCore
import BrokerProtocol
import Records
import SQLiteStore
import Sealing
import SecretMemory
import TestSupport
import Testing

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
