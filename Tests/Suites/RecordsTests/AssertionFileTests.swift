import Glibc
import LinuxSystem
import SecretMemory
import TestSupport
import Testing

@testable import Records

/// The rules for files with assertions, which others may read and no one else may write.
@Suite(.standardTimeLimit) struct AssertionFileTests {
  private let scratch: Scratch
  private var path: String { scratch.file("token") }

  init() { scratch = Scratch() }

  private func refusal(_ path: String? = nil) -> AssertionFile.Refusal? {
    do { _ = try AssertionFile(path ?? self.path).read() } catch { return error as? AssertionFile.Refusal }
    return nil
  }

  private func bytes(_ path: String? = nil) throws -> [UInt8] {
    try AssertionFile(path ?? self.path).read().withBytes { bytes in bytes.indices.map { bytes[$0] } }
  }

  @Test(arguments: [0o644, 0o444, 0o600, 0o440, 0o755] as [mode_t])
  func `all may read it`(_ mode: mode_t) throws {
    try scratch.write("a.b.c\nmore\n", to: "token")
    chmod(path, mode)
    #expect(try bytes() == Array("a.b.c\nmore\n".utf8))
  }

  @Test(arguments: [0o620, 0o602, 0o666, 0o664] as [mode_t])
  func `others may not write it`(_ mode: mode_t) throws {
    try scratch.write("a.b.c", to: "token")
    chmod(path, mode)
    #expect(refusal() == .writable(permissions: UInt32(mode)))
  }

  @Test func `links are followed to the file that is there now, as in Kubernetes' volumes`() throws {
    try scratch.write("one", to: "first")
    try scratch.write("two", to: "second")
    symlink(scratch.file("first"), scratch.file("..data"))
    symlink("..data", path)
    #expect(try bytes() == Array("one".utf8))
    symlink(scratch.file("second"), scratch.file("..new"))
    rename(scratch.file("..new"), scratch.file("..data"))
    #expect(try bytes() == Array("two".utf8))
    unlink(scratch.file("second"))
    #expect(refusal() == .missing)
  }

  @Test func `anything but a file is refused at once, a pipe without a writer as well`() throws {
    #expect(refusal() == .missing)
    mkfifo(path, 0o600)
    #expect(refusal() == .notAFile)
    unlink(path)
    mkdir(path, 0o700)
    #expect(refusal() == .notAFile)
    #expect(refusal("/dev/null") == .notAFile)
    #expect(refusal(path + "/in/it") == .missing)
  }

  @Test func `it has a length`() throws {
    try scratch.write(Array(repeating: 0x61, count: 65536), to: "token")
    #expect(try bytes().count == 65536)
    for count in [65537, 1 << 20] {
      try scratch.write(Array(repeating: 0x61, count: count), to: "token")
      #expect(refusal() == .tooLong)
    }
    try scratch.write("", to: "token")
    #expect(try bytes().isEmpty)
  }

  @Test(.enabled(if: getuid() == 0, "only root can give files away")) func `it belongs to its reader or to root`()
    throws
  {
    try scratch.write("a.b.c", to: "token")
    chown(path, 12345, 12345)
    #expect(refusal() == .foreignOwner(12345))
  }
}
