import ClientSocket
import JSON
import LinuxSystem
import TestSupport
import Testing

/// The command on a real broker.
@Suite(.standardTimeLimit) struct CommandTests {
  @Test func `a joiner with another configuration is refused, and both are named`() async throws {
    try await Sandbox.run { sandbox in
      let options = try sandbox.configure("{}")
      _ = try sandbox.owner(options)
      #expect(try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state] + options + ["status"]).code == 0)
      try Directory.write("{}", to: sandbox.root + "/other.json")
      for words in [["status"], ["connect"], ["serve", "--stdio"], ["token"]] {
        let joiner = try sandbox.run(
          BuiltPrograms.command, ["--state", sandbox.state, "--config", sandbox.root + "/other.json"] + words)
        #expect(joiner.code == 1)
        #expect(joiner.output.isEmpty)
        #expect(joiner.errors.contains("/config.json") && joiner.errors.contains("/other.json"), "\(joiner.errors)")
      }
    }
  }

  @Test(arguments: [["connect"], ["serve", "--stdio"]])
  func `a relay ends with 8 when the owner dies`(_ words: [String]) async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner()
      let relay = try sandbox.start(BuiltPrograms.command, ["--state", sandbox.state] + words)
      let wire = ProgramWire(relay)
      #expect(try wire.call("ping").members().isEmpty)
      owner.kill()
      #expect(try wire.next() == nil)
      #expect(try relay.wait() == 8)
    }
  }

  @Test func `a relay with a subscription ends with 0 at the end of its input`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      let relay = try sandbox.start(BuiltPrograms.command, ["--state", sandbox.state, "serve", "--stdio"])
      let wire = ProgramWire(relay)
      _ = try wire.call("subscribe")
      wire.finishSending()
      #expect(try wire.next() == nil)
      #expect(try relay.wait() == 0)
    }
  }

  @Test func `serve runs the owner in the foreground until a signal`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.start(BuiltPrograms.command, ["--state", sandbox.state, "serve"], input: .nothing)
      // Whoever joins now may find it coming up, and must not start another.
      let deadline = Patience.end
      var status = try sandbox.command("--no-start", "status", "--json")
      while status.code == 8, BootClock.now < deadline {
        status = try sandbox.command("--no-start", "status", "--json")
      }
      let pid = try JSONDocument(parsing: Array(status.output.utf8)).root.required("pid").integer()
      #expect(pid == Int64(owner.pid))
      try owner.send(.terminate)
      #expect(try owner.wait() == 0)
      #expect(try sandbox.command("--no-start", "status").code == 8)
    }
  }

  @Test func `a private broker refuses a state directory that has an owner`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner()
      let outcome = try sandbox.command("serve", "--stdio", "--private")
      #expect(outcome.code == 1)
      #expect(outcome.output.isEmpty)
      #expect(outcome.errors.contains("\(owner.pid)"))
    }
  }

  @Test func `a start that fails is told to the client that wanted it`() async throws {
    try await Sandbox.run { sandbox in
      let options = try sandbox.configure("{ nonsense: 1 }")
      let broken = try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state] + options + ["token"])
      #expect(broken.code == 1)
      #expect(broken.errors.contains("config.json:1") && broken.errors.contains("nonsense"), "\(broken.errors)")
      try Directory.write("not a key", to: sandbox.state + "/vault.key")
      let locked = try sandbox.command("token")
      #expect(locked.code == 7, "\(locked.errors)")
      #expect(locked.errors.contains("vault.key"), "\(locked.errors)")
    }
  }

  @Test func `the usual commands go through a session's life`() async throws {
    try await Sandbox.run { sandbox in
      #expect(try sandbox.command("token").code == 3)
      // What is said of the embedded provider's rule is that rule.
      for (password, code) in [("14 characters.", 1), ("15 characters..", 0)] as [(String, Int32)] {
        let run = try sandbox.command(
          "register", "--email", "rule@example.com", "--password-stdin", input: password + "\n")
        #expect(run.code == code && run.errors.contains("at least 15 characters") == (code != 0), "\(run.errors)")
      }
      let register = try sandbox.command(
        "register", "--email", "ada@example.com", "--password-stdin", input: "example password 1\n")
      #expect(register.code == 0, "\(register.errors)")
      let token = try sandbox.command("token")
      #expect(token.code == 0 && token.output.split(separator: ".").count == 3)
      #expect(try sandbox.command("header").output == "Authorization: Bearer " + token.output)
      #expect(try sandbox.command("status", "--profile", "default").code == 0)
      #expect(try sandbox.command("logout").code == 0)
      #expect(try sandbox.command("status", "--profile", "default").code == 3)
      let wrong = try sandbox.command("login", "--email", "ada@example.com", "--password-stdin", input: "wrong one 1\n")
      #expect(wrong.code == 4, "\(wrong.errors)")
      let login = try sandbox.command(
        "login", "--email", "ada@example.com", "--password-stdin", input: "example password 1\n")
      #expect(login.code == 0, "\(login.errors)")
      #expect(try sandbox.command("token").output != token.output)
      #expect(try sandbox.command("stop").code == 0)
      #expect(try sandbox.command("stop").errors == "authbroker: no broker is running\n")
      // A new owner is started on demand and has the session.
      #expect(try sandbox.command("token").code == 0)
    }
  }
}
