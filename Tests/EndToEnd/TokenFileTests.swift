import Glibc
import LinuxSystem
import StateDirectory
import TestSupport
import Testing

/// Files that `authbroker file` keeps.
@Suite(.standardTimeLimit) struct TokenFileTests {
  /// A keeper and its file.
  private struct Keeper {
    let sandbox: Sandbox
    let program: Program
    let path: String

    init(_ sandbox: Sandbox, _ options: [String] = [], _ words: [String] = []) throws {
      self.sandbox = sandbox
      path = sandbox.root + "/token"
      program = try sandbox.start(
        BuiltPrograms.command, ["--state", sandbox.state] + options + ["file", path] + words, input: .nothing)
    }

    var content: String? { (try? Directory.bytes(of: path)).map { String(decoding: $0, as: UTF8.self) } }

    /// Waits until the file is as it must be.
    func await(_ what: String, _ isReached: (String?) throws -> Bool) throws {
      let isInTime = try Patience.wait { try isReached(content) }
      guard isInTime else { throw TestFailure("not in time: \(what); \(program.errorText)") }
    }

    /// Waits until the keeper has said something.
    func await(saying text: String) throws {
      let isInTime = Patience.wait { program.errorText.contains(text) }
      guard isInTime else { throw TestFailure("it does not say \"\(text)\": \(program.errorText)") }
    }
  }

  private static func login(_ sandbox: Sandbox) throws {
    let login = try sandbox.command(
      "login", "--email", "ada@example.com", "--password-stdin", input: "example password 1\n")
    guard login.code == 0 else { throw TestFailure(login.errors) }
  }

  @Test func `the file follows the session: refreshed, logged out, logged in, locked, unlocked, ended`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      let wire = try SocketWire(sandbox.socket)
      try wire.register()
      let keeper = try Keeper(sandbox)
      let first = try wire.accessToken()
      try keeper.await("the token is written") { $0 == first }
      #expect(try FileStatus.ofLink(keeper.path).permissions == 0o600)
      #expect(try sandbox.command("token", "--force-refresh").code == 0)
      let second = try wire.accessToken()
      #expect(second != first)
      try keeper.await("the refreshed token is written") { $0 == second }
      for (away, back) in [("logout", nil), ("lock", "unlock")] as [(String, String?)] {
        #expect(try sandbox.command(away).code == 0)
        try keeper.await("the file is removed by \(away)") { $0 == nil }
        if let back { #expect(try sandbox.command(back).code == 0) } else { try Self.login(sandbox) }
        let token = try SocketWire(sandbox.socket).accessToken()
        try keeper.await("the file is written again after \(away)") { $0 == token }
      }
      try keeper.program.send(.terminate)
      #expect(try keeper.program.wait() == 0)
      #expect(Directory.names(in: sandbox.root).filter { $0.contains("token") }.isEmpty)
      #expect(keeper.program.errorText.contains("removed \(keeper.path): the vault is locked"))
    }
  }

  @Test func `a broker that was stopped is waited for, one that was killed is replaced`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner()
      try SocketWire(sandbox.socket).register()
      let keeper = try Keeper(sandbox)
      let token = try SocketWire(sandbox.socket).accessToken()
      try keeper.await("the token is written") { $0 == token }
      #expect(try sandbox.command("stop").code == 0)
      #expect(try owner.wait() == 0)
      try keeper.await(saying: "the broker was stopped")
      #expect(keeper.content == token)
      // A request that the end of the broker has crossed starts the next one: then that one is here already.
      let next = try? sandbox.owner()
      #expect(try sandbox.command("token", "--force-refresh").code == 0)
      let second = try SocketWire(sandbox.socket).accessToken()
      try keeper.await("the next broker's token is written") { $0 == second }
      if let next {
        next.kill()
      } else {
        let record = try #require(OwnerRecord(at: sandbox.state + "/broker.lock"))
        try Signal(number: 9).send(to: record.pid)
      }
      #expect(try sandbox.command("token", "--force-refresh").code == 0)
      let third = try SocketWire(sandbox.socket).accessToken()
      try keeper.await("the token of the one after that is written") { $0 == third }
    }
  }

  @Test func `tokens that live short are replaced in time, and a person is told once`() async throws {
    try await Sandbox.run { sandbox in
      let options = try sandbox.configure(
        #"{ profiles: { default: { provider: "local", refreshSkewSeconds: 15, backgroundRefresh: false } }, "#
          + "local: { accessTokenLifetimeSeconds: 20 } }")
      _ = try sandbox.owner(options)
      try SocketWire(sandbox.socket).register()
      let keeper = try Keeper(sandbox, options)
      var seen = ""
      var changes: [Duration] = []
      try keeper.await("the token is replaced twice") { content in
        if let content, content != seen {
          seen = content
          changes.append(BootClock.now)
        }
        return changes.count == 4
      }
      // The second one is the fresh one that tells how long tokens live; from there on half a life is the most.
      for (earlier, later) in zip(changes.dropFirst(), changes.dropFirst(2)) {
        #expect(later - earlier < .seconds(14), "a token was replaced after \(later - earlier)")
      }
      let told = keeper.program.errorText.split(separator: "\n").filter { $0.contains("before half of that is over") }
      #expect(told.count == 1, "\(keeper.program.errorText)")
    }
  }

  @Test func `a file has one keeper, which outlives no kill but is followed by the next one`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      try SocketWire(sandbox.socket).register()
      let keeper = try Keeper(sandbox)
      try keeper.await("the token is written") { $0 != nil }
      let second = try sandbox.command("file", keeper.path)
      #expect(second.code == 1)
      #expect(second.errors.contains("another authbroker (pid \(keeper.program.pid)) keeps this file"))
      sandbox.bury(keeper.program)
      let once = try sandbox.command("file", keeper.path, "--once", "-q")
      #expect(once.code == 0 && once.errors.isEmpty)
      #expect(try keeper.content == SocketWire(sandbox.socket).accessToken())
      #expect(Directory.names(in: sandbox.root).filter { $0.contains("token") } == ["token"])
      let kept = try Keeper(sandbox, [], ["--keep"])
      try kept.await(saying: "wrote ")
      try kept.program.send(.interrupt)
      #expect(try kept.program.wait() == 130)
      #expect(kept.content != nil)
    }
  }

  @Test func `a place that is not trusted is refused, and nothing there is changed`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      try SocketWire(sandbox.socket).register()
      let open = sandbox.root + "/open"
      mkdir(open, 0o700)
      chmod(open, 0o777)
      try Directory.write("one\ntwo\n", to: sandbox.root + "/notes")
      try Directory.write("a line", to: sandbox.root + "/line")
      try Directory.write("word", to: sandbox.root + "/word")
      chmod(sandbox.root + "/word", 0o644)
      #expect(symlink(sandbox.root + "/elsewhere", sandbox.root + "/link") == 0)
      let refusals = [
        (open + "/token", "can be changed by every user"), (sandbox.root + "/link", "is a symbolic link"),
        (sandbox.root + "/notes", "is not a token file"), (sandbox.root, "is not a regular file"),
        (sandbox.root + "/line", "is not a token file"), (sandbox.root + "/word", "is not a token file"),
      ]
      for (path, sentence) in refusals {
        let outcome = try sandbox.command("file", path, "--once")
        #expect(outcome.code == 1 && outcome.errors.contains(sentence), "\(outcome.errors)")
      }
      #expect(try Directory.bytes(of: sandbox.root + "/notes") == Array("one\ntwo\n".utf8))
      #expect(try Directory.bytes(of: sandbox.root + "/line") == Array("a line".utf8))
      #expect(try Directory.bytes(of: sandbox.root + "/word") == Array("word".utf8))
      chmod(sandbox.root + "/word", 0o600)
      try Directory.write("", to: sandbox.root + "/empty")
      for name in ["word", "empty"] {
        let replaced = try sandbox.command("file", sandbox.root + "/" + name, "--once")
        #expect(replaced.code == 0, "\(replaced.errors)")
        #expect(try Directory.bytes(of: sandbox.root + "/" + name).count > 20)
      }
      #expect(Directory.names(in: open).isEmpty && !Directory.names(in: sandbox.root).contains("elsewhere"))
      #expect(try sandbox.command("logout").code == 0)
      let absent = try sandbox.command("file", sandbox.root + "/token", "--once")
      #expect(absent.code == 3 && !Directory.names(in: sandbox.root).contains("token"))
    }
  }
}
