import Glibc
import LinuxSystem
import Records
import SQLiteStore
import Sealing
import SecretMemory
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct KeyFileTests {
  private func refusal(_ place: TemporaryVault) -> KeySourceError? {
    do throws(KeySourceError) {
      _ = try place.key()
      return nil
    } catch { return error }
  }

  @Test func `a first start makes a private key and later ones read it`() throws {
    let place = try TemporaryVault()
    let first = try place.key()
    #expect(try place.key().id == first.id && place.files == ["vault.key"])
    let status = try FileStatus.ofLink(place.keyPath)
    #expect(status.permissions == 0o600 && status.size == 32)
  }

  @Test func `the directory is made private`() throws {
    let place = try TemporaryVault()
    let directory = place.directory + "/deep"
    _ = try KeyFile(path: directory + "/vault.key").stageNext()
    #expect(try FileStatus.ofLink(directory).permissions == 0o700)
  }

  @Test func `a missing key is not replaced while there is a vault`() async throws {
    let place = try TemporaryVault()
    try await place.open().close()
    unlink(place.keyPath)
    await #expect(throws: (any Error).self) { try await place.open() }
    #expect(place.files == ["vault.sqlite"])
  }

  @Test func `a key that others can read is refused`() throws {
    let place = try TemporaryVault()
    _ = try place.key()
    chmod(place.keyPath, 0o640)
    #expect(refusal(place) == .openToOthers(path: place.keyPath, permissions: 0o640))
  }

  @Test func `a symbolic link is refused`() throws {
    let place = try TemporaryVault()
    try place.write(Array(repeating: 7, count: 32), to: "elsewhere")
    symlink(place.directory + "/elsewhere", place.keyPath)
    #expect(refusal(place) == .notAFile(path: place.keyPath))
  }

  @Test(arguments: [0, 31, 33]) func `a key of another length is refused`(_ count: Int) throws {
    let place = try TemporaryVault()
    try place.write(Array(repeating: 7, count: count), to: "vault.key")
    #expect(refusal(place) == .wrongLength(path: place.keyPath))
  }

  @Test func `a pipe in place of the key is refused at once`() throws {
    let place = try TemporaryVault()
    mkfifo(place.keyPath, 0o600)
    #expect(refusal(place) == .notAFile(path: place.keyPath))
  }
}
