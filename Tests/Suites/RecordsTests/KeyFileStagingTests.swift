import Glibc
import LinuxSystem
import Records
import Sealing
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct KeyFileStagingTests {
  private let place: KeyPlace

  init() throws { place = try KeyPlace() }

  @Test func `a new key waits beside the one in use`() throws {
    let old = try SealingKey.random()
    try place.write(old, to: "vault.key")
    let new = try place.file.stageNext()
    #expect(place.scratch.names == ["vault.key", "vault.key.next"])
    #expect(place.scratch.mode("vault.key.next") == 0o600 && place.scratch.size("vault.key.next") == 32)
    let (present, next) = try place.keys()
    #expect(present == old.id && next == new.id)
    try place.file.promoteNext()
    #expect(place.scratch.names == ["vault.key"])
    #expect(try place.file.read().id == new.id)
    #expect(place.scratch.mode("vault.key") == 0o600)
  }

  @Test func `a key that waits can be discarded, and both be removed`() throws {
    try place.write(.random(), to: "vault.key")
    _ = try place.file.stageNext()
    try place.file.discardNext()
    #expect(place.scratch.names == ["vault.key"])
    try place.file.remove()
    #expect(place.scratch.names.isEmpty)
    #expect(try place.file.readIfPresent() == nil && place.file.readNext() == nil)
  }

  @Test func `each step can be done once more`() throws {
    let new = try place.file.stageNext()
    for _ in 0..<2 { try place.file.promoteNext() }
    #expect(try place.file.read().id == new.id)
    for _ in 0..<2 { try place.file.discardNext() }
    for _ in 0..<2 { try place.file.remove() }
    #expect(place.scratch.names.isEmpty)
  }

  @Test(arguments: [0, 5, 31, 32, 33]) func `what was left over makes room for a new key`(_ count: Int) throws {
    try place.scratch.write(Array(repeating: 7, count: count), to: "vault.key.next")
    let new = try place.file.stageNext()
    #expect(try place.keys().next == new.id)
  }

  @Test func `the key that the vault needs is not thrown away while it waits`() throws {
    try place.write(.random(), to: "vault.key")
    let needed = try place.file.stageNext()
    let new = try place.file.stageNext(keeping: needed.id)
    let (present, next) = try place.keys()
    #expect(present == needed.id && next == new.id)
    let newer = try place.file.stageNext(keeping: needed.id)
    let (still, newest) = try place.keys()
    #expect(still == needed.id && newest == newer.id)
  }

  @Test func `a symbolic link is neither read nor followed`() throws {
    try place.scratch.write(Array(repeating: 7, count: 32), to: "elsewhere")
    symlink(place.scratch.file("elsewhere"), place.file.nextPath)
    #expect(keySourceError { _ = try place.file.readNext() } == .notAFile(path: place.file.nextPath))
    _ = try place.file.stageNext()
    #expect(try place.scratch.bytes(of: "elsewhere") == Array(repeating: 7, count: 32))
    try place.file.promoteNext()
    #expect(place.scratch.names == ["elsewhere", "vault.key"])
    #expect(try FileStatus.ofLink(place.path).kind == .regular)
  }

  @Test func `a key that others can read is not taken while it waits`() throws {
    _ = try place.file.stageNext()
    chmod(place.file.nextPath, 0o604)
    #expect(
      keySourceError { _ = try place.file.readNext() } == .openToOthers(path: place.file.nextPath, permissions: 0o604))
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file to another user"))
  func `a key of another user is refused`() throws {
    try place.write(.random(), to: "vault.key")
    chown(place.path, 12345, 0)
    #expect(keySourceError { _ = try place.file.read() } == .foreignOwner(path: place.path, owner: 12345))
  }

  @Test func `a directory that others can read is refused`() throws {
    try place.write(.random(), to: "vault.key")
    chmod(place.scratch.path, 0o750)
    let refusal = KeySourceError.directory(.openToOthers(place.scratch.path, permissions: 0o750))
    #expect(keySourceError { _ = try place.file.read() } == refusal)
    #expect(keySourceError { _ = try place.file.readNext() } == refusal)
    #expect(keySourceError { _ = try place.file.stageNext() } == refusal)
    #expect(keySourceError { try place.file.promoteNext() } == refusal)
    #expect(keySourceError { try place.file.discardNext() } == refusal)
    #expect(keySourceError { try place.file.remove() } == refusal)
    chmod(place.scratch.path, 0o700)
    #expect(place.scratch.names == ["vault.key"])
  }

  @Test func `without its directory there is no key, and nothing to remove`() throws {
    let file = KeyFile(path: place.scratch.file("deep/er/vault.key"))
    #expect(keySourceError { _ = try file.read() } == .missing(path: file.path))
    #expect(try file.readIfPresent() == nil && file.readNext() == nil)
    try file.discardNext()
    try file.remove()
    #expect(place.scratch.names.isEmpty)
    _ = try file.stageNext()
    try file.promoteNext()
    #expect(place.scratch.mode("deep/er") == 0o700 && place.scratch.names(in: "deep/er") == ["vault.key"])
  }
}
