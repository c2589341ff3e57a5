import BrokerCore
import BrokerProtocol
import Glibc
import LinuxSystem
import Records
import SQLiteStore
import TestSupport
import Testing

/// Pipes, sockets, directories, links and devices in the places of the vault's files: refused at once, with the name.
@Suite(.timeLimit(.minutes(2)), .standardTimeLimit) struct VaultObstacleTests {
  private static let names = [
    "vault.sqlite", "vault.sqlite-journal", "vault.sqlite-wal", "vault.sqlite-shm", "vault.key", "vault.anchor",
  ]

  private func message(_ error: any Error) -> String {
    switch error as? KeyFailure {
    case .sourceUnavailable(let why)?: why
    case .store(let failure)?: "\(failure)"
    default: "\(error)"
    }
  }

  @Test(arguments: names, Obstacle.own)
  func `what is no file in the place of one is refused and named`(_ name: String, _ obstacle: Obstacle) async throws {
    try await expectRefusal(name, obstacle)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can make a device"), arguments: names)
  func `a device in the place of a file is refused and named`(_ name: String) async throws {
    try await expectRefusal(name, .device)
  }

  private func expectRefusal(_ name: String, _ obstacle: Obstacle) async throws {
    let scratch = Scratch()
    let vault = try await YoungVault.open(scratch)
    try await vault.save(Sample.living("a"))
    try await vault.close()
    try obstacle.put(at: scratch.file(name))
    // A link to nothing is a link all the same.
    if name.contains("-"), obstacle == .link { #expect(scratch.mode(name) != nil) }
    do {
      try await YoungVault.open(scratch).close()
      Issue.record("\(obstacle) as \(name) was taken")
    } catch { #expect(message(error).contains(scratch.file(name)), "\(error)") }
    try DirectoryEntry.rename(scratch.file(name), to: scratch.file("obstacle"))
    _ = rename(scratch.file(name + ".moved"), scratch.file(name))
    let again = try await YoungVault.open(scratch)
    #expect(try await again.load().records == [Sample.living("a")])
    try await again.close()
  }

  @Test(arguments: Obstacle.own)
  func `a list of the key file's users that is no file keeps the key file as it is`(_ obstacle: Obstacle) async throws {
    try await expectKeptKey(obstacle)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can make a device"))
  func `a list of the key file's users that is a device keeps the key file as it is`() async throws {
    try await expectKeptKey(.device)
  }

  private func expectKeptKey(_ obstacle: Obstacle) async throws {
    let (scratch, keys) = (Scratch(), Scratch())
    let vault = try await Vault.open(
      path: scratch.file("vault.sqlite"), settings: KeySourceSettings(keyFilePath: keys.file("vault.key")),
      now: { 1_000_000_000 })
    try await vault.unlock(nil)
    try obstacle.put(at: keys.file("vault.key.vaults"))
    await #expect {
      try await vault.rekey(.init())
    } throws: { error in
      message(error).contains(keys.file("vault.key.vaults"))
    }
    try await vault.close()
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file to another user"), arguments: names)
  func `a file of another user is refused and named`(_ name: String) async throws {
    let scratch = Scratch()
    try await YoungVault.open(scratch).close()
    if scratch.size(name) == nil { try scratch.write([], to: name) }
    #expect(chown(scratch.file(name), 65_534, 65_534) == 0)
    do {
      try await YoungVault.open(scratch).close()
      Issue.record("another user's \(name) was taken")
    } catch { #expect(message(error).contains(name) || "\(error)".contains("cannot be opened"), "\(error)") }
  }
}
