import Glibc
import SecretMemory
import TestSupport
import Testing

@testable import Records

@Suite(.standardTimeLimit) struct CredentialFileTests {
  private let place: KeyPlace
  private var path: String { place.scratch.file("secret") }

  init() throws { place = try KeyPlace() }

  private func refusal() -> CredentialFile.Refusal? {
    do throws(KeySourceError) { _ = try CredentialFile(place.settings()).read() } catch {
      if case .credential(let refusal) = error { return refusal }
    }
    return nil
  }

  private func bytes() throws -> [UInt8] {
    try CredentialFile(place.settings()).read().withBytes { bytes in bytes.indices.map { bytes[$0] } }
  }

  @Test(arguments: [
    ("secret", "secret"), ("secret\n", "secret"), ("secret\n\n", "secret\n"), ("\nsecret", "\nsecret"),
    (" secret \n", " secret "), ("secret\r\n", "secret\r"), ("a\u{0}b", "a\u{0}b"),
  ])
  func `one newline at the end does not count`(_ content: String, _ secret: String) throws {
    try place.scratch.write(content, to: "secret")
    #expect(try bytes() == Array(secret.utf8))
  }

  @Test func `any bytes are a secret`() throws {
    try place.scratch.write(Array(0...255), to: "secret")
    #expect(try bytes() == Array(0...255))
  }

  @Test(arguments: ["", "\n"]) func `nothing is no secret`(_ content: String) throws {
    try place.scratch.write(content, to: "secret")
    #expect(refusal() == .empty(path: path))
  }

  @Test func `a secret has a length`() throws {
    try place.scratch.write(Array(repeating: 7, count: 4096), to: "secret")
    #expect(try bytes().count == 4096)
    try place.scratch.write(Array(repeating: 7, count: 4097), to: "secret")
    #expect(refusal() == .tooLong(path: path))
    try place.scratch.write(Array(repeating: 7, count: 1 << 20), to: "secret")
    #expect(refusal() == .tooLong(path: path))
  }

  @Test func `without a credential it is said how to give one`() {
    #expect(refusal() == .missing(path: path))
    #expect(refusal()?.description.contains("LoadCredential=") == true)
    for directory in [nil, "", "run/credentials"] {
      var settings = place.settings()
      settings.credentialsDirectory = directory
      let error = keySourceError { _ = try CredentialFile(settings).read() }
      #expect(error == .credential(.noDirectory(name: "secret")))
      #expect(error?.description.contains("LoadCredential=secret:") == true)
    }
  }

  @Test func `anything but a file is refused at once`() throws {
    try place.scratch.write("fake", to: "elsewhere")
    symlink(place.scratch.file("elsewhere"), path)
    #expect(refusal() == .notAFile(path: path))
    unlink(path)
    mkfifo(path, 0o600)
    #expect(refusal() == .notAFile(path: path))
    unlink(path)
    mkdir(path, 0o700)
    #expect(refusal() == .notAFile(path: path))
  }

  @Test(arguments: [0o404, 0o604, 0o420, 0o660, 0o410, 0o644] as [mode_t])
  func `a credential that others can use is refused`(_ mode: mode_t) throws {
    try place.scratch.write("fake", to: "secret")
    chmod(path, mode)
    #expect(refusal() == .openToOthers(path: path, permissions: mode))
  }

  @Test func `the group may read only what belongs to root`() throws {
    // Where the service manager gives access by an access control list, the mode is 0440.
    try place.scratch.write("fake", to: "secret")
    chmod(path, 0o440)
    #expect(refusal() == (geteuid() == 0 ? nil : .openToOthers(path: path, permissions: 0o440)))
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file to another user"))
  func `a credential of another user is refused`() throws {
    try place.scratch.write("fake", to: "secret")
    chown(path, 12345, 12345)
    #expect(refusal() == .foreignOwner(path: path, owner: 12345))
  }

  @Test func `no error shows what is in a credential`() throws {
    try place.scratch.write("canary", to: "secret")
    chmod(path, 0o444)
    #expect(refusal()?.description.contains("canary") == false)
  }
}
