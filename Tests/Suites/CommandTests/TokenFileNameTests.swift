import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

/// The name of a token file while it is written.
@Suite(.standardTimeLimit) struct TokenFileNameTests {
  private let scratch = Scratch()

  @Test func `what lies in the place of the temporary file keeps no token from its readers`() throws {
    // As another user can put it there, in a directory that all share: it cannot be removed.
    let place = PendingFile.temporaryPath(of: scratch.file("token"), mark: "new")
    try DirectoryEntry.makeDirectories(place)
    var file = try TokenFile(scratch.file("token"))
    for token in ["first", "second"] {
      try file.write(Array(token.utf8).span)
      #expect(try scratch.bytes(of: "token") == Array(token.utf8))
    }
    #expect(scratch.names == [".token.lock", ".token.new", "token"])
  }

  @Test func `a link in the place of the temporary file is removed, and never followed`() throws {
    try scratch.write("mine", to: "victim")
    let place = PendingFile.temporaryPath(of: scratch.file("token"), mark: "new")
    try SymbolicLink.make(place, to: "victim")
    var file = try TokenFile(scratch.file("token"))
    try SymbolicLink.make(place, to: "victim")
    try file.write(Array("secret".utf8).span)
    #expect(try scratch.bytes(of: "victim") == Array("mine".utf8) && scratch.bytes(of: "token") == Array("secret".utf8))
    #expect(scratch.mode("token") == 0o600)
  }
}
