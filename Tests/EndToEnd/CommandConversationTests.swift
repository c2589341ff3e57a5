import JSON
import LinuxSystem
import TestSupport
import Testing

/// A whole session's life with commands only: those of the command, and those of the shell client.
@Suite(.standardTimeLimit) struct CommandConversationTests {
  /// The programs that know the same commands.
  private static let programs = [BuiltPrograms.command, BuiltPrograms.shellClient]

  @Test(arguments: programs)
  func `register, code, token, logout and login again`(_ program: String) async throws {
    try await Sandbox.run { sandbox in
      let conversation = try Conversation(named: "register-login-otp-token-logout")
      if let text = conversation.configuration {
        sandbox.environment["AUTHBROKER_CONFIG"] = try sandbox.configure(text).last
      }
      var player = CommandPlayer(program, sandbox)
      try player.play(conversation)
    }
  }

  @Test(arguments: programs)
  func `watch prints events until it has seen enough`(_ program: String) async throws {
    try await Sandbox.run { sandbox in
      sandbox.environment["AUTHBROKER_STATE"] = sandbox.state
      _ = try sandbox.owner()
      let client = try SocketWire(sandbox.socket)
      let options = program == BuiltPrograms.command ? ["--json"] : []
      let watcher = try sandbox.start(program, ["watch", "--count", "2"] + options, input: .nothing)
      let deadline = Patience.end
      while try client.call("getStatus")["subscriptions"]?.integer() == 0, BootClock.now < deadline {}
      try client.register()
      _ = try client.call("logout")
      let lines = String(decoding: try watcher.output.readToEnd(), as: UTF8.self).split(separator: "\n")
      #expect(try watcher.wait() == 0, "\(watcher.errorText)")
      let events = try lines.map { try JSONDocument(parsing: Array($0.utf8)).root.required("event").string() }
      #expect(events == ["login", "logout"])
    }
  }

  @Test(arguments: programs)
  func `a broker that cannot be reached is told with 8`(_ program: String) async throws {
    try await Sandbox.run { sandbox in
      sandbox.environment["AUTHBROKER_SOCKET"] = sandbox.root + "/nobody.sock"
      let outcome = try sandbox.run(program, ["token"])
      #expect(outcome.code == 8)
      #expect(outcome.output.isEmpty)
      #expect(outcome.errors.contains("nobody.sock"), "\(outcome.errors)")
    }
  }
}
