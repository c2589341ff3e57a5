import BrokerCore
import BrokerProtocol
import LinuxSystem
import Records
import SQLiteStore
import Sealing
import SecretMemory
import TestSupport
import Testing

/// One key file for two vaults, as with two state directories and one place for data.
@Suite(.standardTimeLimit) struct KeyFileUsersTests {
  private let keys = Scratch()

  init() throws { try Sealing.initialize() }

  private func open(_ place: Scratch) async throws -> Vault {
    let vault = try await Vault.open(
      path: place.file("vault.sqlite"), settings: KeySourceSettings(keyFilePath: keys.file("vault.key")),
      now: { 1_000_000_000 })
    try await vault.unlock(nil)
    return vault
  }

  private func isRefused(_ vault: Vault, _ params: Rekey.Params = Rekey.Params()) async throws -> Bool {
    do throws(KeyFailure) {
      try await vault.rekey(params)
      return false
    } catch {
      guard case .sourceUnavailable(let why) = error else { throw error }
      return why.contains("vault.keyFile")
    }
  }

  @Test func `a vault that shares its key file locks nobody out`() async throws {
    let (first, second) = (Scratch(), Scratch())
    let vault = try await open(first)
    let neighbour = try await open(second)
    try await neighbour.save(Sample.living("b"))
    #expect(try await isRefused(vault))
    #expect(try await isRefused(neighbour))
    try await vault.rekey(Rekey.Params(keySource: .passphrase, newPassphrase: Secret(utf8: "fake passphrase one")))
    // The way back would take the other's key away as well.
    let back = Rekey.Params(keySource: .file, passphrase: try Secret(utf8: "fake passphrase one"))
    #expect(try await isRefused(vault, back))
    try await vault.close()
    try await neighbour.close()
    let alone = try await open(second)
    try await alone.rekey(Rekey.Params())
    try await alone.close()
    let again = try await open(second)
    #expect(try await again.load().records == [Sample.living("b")])
    try await again.close()
  }

  @Test func `a vault that is gone, or was never there, shares nothing`() async throws {
    let (first, second) = (Scratch(), Scratch())
    let vault = try await open(first)
    try await open(second).close()
    try DirectoryEntry.remove(second.file("vault.sqlite"))
    try keys.write(keys.bytes(of: "vault.key.vaults") + Array("\n\u{1}\nnowhere\n/\n\0".utf8), to: "vault.key.vaults")
    #expect(try await !isRefused(vault))
    try await vault.close()
    try await open(first).close()
  }

  @Test func `a vault whose directory is gone may be on a disk that is not mounted now`() async throws {
    let first = Scratch()
    let vault = try await open(first)
    let line = Array("\(keys.file("unmounted"))/vault.sqlite\n".utf8)
    try keys.write(keys.bytes(of: "vault.key.vaults") + line, to: "vault.key.vaults")
    #expect(try await isRefused(vault))
    try await vault.close()
  }

  @Test func `a vault beside its key file tells nobody`() async throws {
    let place = try TemporaryVault()
    try await place.open().close()
    #expect(place.files == ["vault.key", "vault.sqlite"])
  }
}
