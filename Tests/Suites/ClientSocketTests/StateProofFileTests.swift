import ClientSocket
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// What a client does for a broker that asks it for a file.
@Suite(.standardTimeLimit) struct StateProofFileTests {
  private static let name = "prove-" + String(repeating: "0f", count: 16)
  private static let nonce = String(repeating: "1e", count: 32)

  @Test func `the file is made once, for its owner alone, and removed`() throws {
    let scratch = Scratch()
    let file = try #require(StateProofFile(path: scratch.file(Self.name), nonce: Self.nonce))
    #expect(try file.create())
    #expect(try String(decoding: scratch.bytes(of: Self.name), as: UTF8.self) == Self.nonce)
    #expect(scratch.mode(Self.name) == 0o600)
    #expect(try !file.create())
    file.remove()
    #expect(scratch.names.isEmpty)
  }

  @Test(arguments: [
    ".bashrc", "prove-", "prove-0f", "prove-" + String(repeating: "0F", count: 16),
    "prove-" + String(repeating: "0f", count: 17), name + "/x",
  ])
  func `no other name is made`(_ name: String) {
    #expect(StateProofFile(path: "/state/" + name, nonce: Self.nonce) == nil)
    #expect(StateProofFile(path: name, nonce: Self.nonce) == nil)
  }

  @Test(arguments: ["", "rm -rf", String(repeating: "1e", count: 31), String(repeating: "1e", count: 33)])
  func `nothing else is written`(_ nonce: String) {
    #expect(StateProofFile(path: "/state/" + Self.name, nonce: nonce) == nil)
  }

  @Test func `a directory that is open to others gets no file`() throws {
    let scratch = Scratch()
    chmod(scratch.path, 0o755)
    let file = try #require(StateProofFile(path: scratch.file(Self.name), nonce: Self.nonce))
    #expect(throws: Errno.accessDenied) { _ = try file.create() }
    #expect(scratch.names.isEmpty)
  }

  @Test func `a link in its place is not followed`() throws {
    let scratch = Scratch()
    symlink(scratch.file("target"), scratch.file(Self.name))
    let file = try #require(StateProofFile(path: scratch.file(Self.name), nonce: Self.nonce))
    #expect(try !file.create())
    #expect(scratch.names == [Self.name])
  }
}
