import Glibc
import TestSupport
import Testing

/// Names in the state directory that are hard links of a file elsewhere: nothing is written into that.
@Suite(.standardTimeLimit) struct SecondNameTests {
  private static let text = "this is another program's file\n"

  private static func other(_ sandbox: Sandbox, as name: String) throws -> String {
    let path = sandbox.root + "/other"
    try Directory.write(text, to: path)
    chmod(path, 0o600)
    unlink(sandbox.state + "/" + name)
    #expect(link(path, sandbox.state + "/" + name) == 0)
    return path
  }

  private static func isUntouched(_ path: String) throws -> Bool {
    try Directory.bytes(of: path) == Array(text.utf8)
  }

  @Test func `an owner's lock that is another file is refused by its name`() async throws {
    try await Sandbox.run { sandbox in
      mkdir(sandbox.state, 0o700)
      let other = try Self.other(sandbox, as: "broker.lock")
      let refused = try sandbox.refusedDaemon()
      #expect(refused.code == 1, "\(refused.errors)")
      #expect(refused.errors.contains("\(sandbox.state)/broker.lock is another file"), "\(refused.errors)")
      #expect(try Self.isUntouched(other))
    }
  }

  @Test func `a reserve that is another file is replaced, and the other file stays as it is`() async throws {
    try await Sandbox.run { sandbox in
      #expect(try sandbox.command("status").code == 0 && sandbox.command("stop").code == 0)
      let other = try Self.other(sandbox, as: "vault.sqlite.reserve")
      #expect(try sandbox.command("status").code == 0 && sandbox.command("stop").code == 0)
      #expect(try Self.isUntouched(other))
    }
  }
}
