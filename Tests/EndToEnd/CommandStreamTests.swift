import LinuxSystem
import TestSupport
import Testing

/// What the command is given and what it gives, as bytes.
@Suite(.standardTimeLimit) struct CommandStreamTests {
  @Test func `results that cannot be written are a failure`() async throws {
    try await Sandbox.run { sandbox in
      for (program, words) in [
        (BuiltPrograms.command, "config check"), (BuiltPrograms.command, "config check --json"),
        (BuiltPrograms.daemon, "--check-config"), (BuiltPrograms.daemon, "--help"), (BuiltPrograms.daemon, "--version"),
      ] {
        let line = #"exec "$0" --state "$1" $2 >/dev/full"#
        let run = try sandbox.run("/bin/sh", ["-c", line, program, sandbox.state, words])
        #expect(run.code == 1, "\(words)")
        #expect(run.errors.hasPrefix("authbroker: standard output cannot be written: "), "\(words): \(run.errors)")
      }
    }
  }

  @Test func `an argument that is no UTF-8 is refused and not repaired`() async throws {
    try await Sandbox.run { sandbox in
      let line = #"exec "$0" --state "$1" login --email "$(printf 'z\377@x')" --password-stdin"#
      let run = try sandbox.run("/bin/sh", ["-c", line, BuiltPrograms.command, sandbox.state], input: "example\n")
      #expect(run.code == 2 && run.errors.contains("is not UTF-8 text"), "\(run.errors)")
      #expect(Directory.names(in: sandbox.state).isEmpty)
    }
  }

  @Test func `a broker that closes one connection has not ended, and says why`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      let relay = try sandbox.start(BuiltPrograms.command, ["--state", sandbox.state, "connect"])
      try relay.write(Array("]\n".utf8))
      #expect(try relay.wait() == 8)
      let said = relay.errorText
      #expect(said.contains("the broker has closed this connection: ") && said.contains("JSON"), "\(said)")
      #expect(!said.contains("has ended"), "\(said)")
      #expect(try sandbox.command("--no-start", "status").code == 0)
    }
  }
}
