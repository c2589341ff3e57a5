import Glibc
import LinuxSystem
import TestSupport
import Testing

/// The socket of a broker is reached wherever its directory is, and whatever becomes of it.
@Suite(.standardTimeLimit) struct ReachableSocketTests {
  private static func command(_ sandbox: Sandbox, _ words: String..., input: String = "") throws -> Sandbox.Outcome {
    try sandbox.run(BuiltPrograms.command, words, input: input)
  }

  private static func path(_ sandbox: Sandbox) throws -> String {
    String(try command(sandbox, "sockpath").output.dropLast())
  }

  private static func register(_ sandbox: Sandbox) throws {
    let account = #"{"email":"ada@example.com","password":"example password 1"}"#
    let outcome = try command(sandbox, "call", "register", "-", input: account)
    #expect(outcome.code == 0, "\(outcome.errors)")
  }

  @Test func `a socket whose directory has gone is bound again, while clients stay connected`() async throws {
    try await Sandbox.run { sandbox in
      try Self.register(sandbox)
      let (runtime, state) = (sandbox.root + "/runtime", sandbox.root + "/home/state/authbroker")
      #expect(try Self.path(sandbox) == runtime + "/authbroker/broker.sock")
      let client = try SocketWire(runtime + "/authbroker/broker.sock")
      _ = try client.call("ping")
      // As where the last login of a user ends.
      #expect(try sandbox.run("/bin/rm", ["-r", runtime]).code == 0)
      #expect(try Patience.wait { try Self.path(sandbox) == state + "/run/broker.sock" })
      #expect(try Self.command(sandbox, "token").code == 0)
      mkdir(runtime, 0o700)
      #expect(try sandbox.run("/bin/rm", ["-r", state + "/run"]).code == 0)
      #expect(try Patience.wait { try Self.path(sandbox) == runtime + "/authbroker/broker.sock" })
      unlink(runtime + "/authbroker/broker.sock")
      #expect(Patience.wait { access(runtime + "/authbroker/broker.sock", F_OK) == 0 })
      #expect(try Self.command(sandbox, "token").code == 0)
      _ = try client.call("ping")
      #expect(try Self.command(sandbox, "stop").code == 0)
      #expect(access(runtime + "/authbroker/broker.sock", F_OK) != 0)
    }
  }

  @Test(arguments: [68, 90]) func `a long home is no obstacle, and sockpath says what it means`(
    _ count: Int
  ) async throws {
    try await Sandbox.run { sandbox in
      let home = sandbox.root + "/" + String(repeating: "h", count: count - sandbox.root.utf8.count - 1)
      mkdir(home, 0o700)
      sandbox.environment = sandbox.environment.filter { !$0.key.hasPrefix("XDG_") }
      sandbox.environment["HOME"] = home
      try Self.register(sandbox)
      #expect(try Self.command(sandbox, "token").code == 0)
      let outcome = try Self.command(sandbox, "sockpath")
      #expect(outcome.output == home + "/.local/state/authbroker/run/broker.sock\n")
      #expect(outcome.errors.contains("set XDG_RUNTIME_DIR to a shorter directory"), "\(outcome.errors)")
      #expect(try Self.command(sandbox, "stop").code == 0)
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a directory to another user"))
  func `a session's directory of another user is not used`() async throws {
    try await Sandbox.run { sandbox in
      chown(sandbox.root + "/runtime", 1, 1)
      try Self.register(sandbox)
      #expect(try Self.path(sandbox) == sandbox.root + "/home/state/authbroker/run/broker.sock")
      #expect(try Self.command(sandbox, "stop").code == 0)
    }
  }

  @Test(arguments: [true, false], ["removed", "moved away", "without its lock"])
  func `an owner whose state directory has gone ends, and the next one begins there`(
    _ hasRuntime: Bool, _ fate: String
  ) async throws {
    try await Sandbox.run { sandbox in
      if !hasRuntime { sandbox.environment["XDG_RUNTIME_DIR"] = nil }
      try Self.register(sandbox)
      let state = sandbox.root + "/home/state/authbroker"
      let client = try SocketWire(try Self.path(sandbox))
      _ = try client.call("ping")
      switch fate {
      case "removed": #expect(try sandbox.run("/bin/rm", ["-r", state]).code == 0)
      case "moved away": #expect(rename(state, state + ".away") == 0)
      default: unlink(state + "/broker.lock")
      }
      #expect(throws: (any Error).self) { while true { _ = try client.call("ping") } }
      #expect(fate == "without its lock" || access(state, F_OK) != 0, "the directory was made again")
      let next = try Self.command(sandbox, "token")
      #expect(next.code == (fate == "without its lock" ? 0 : 3), "\(next.errors)")
      #expect(try Self.command(sandbox, "stop").errors == "authbroker: the broker has stopped\n")
    }
  }
}
