import Glibc
import TestSupport
import Testing

/// What the environment of the first command is like, and what a start makes of it.
@Suite(.standardTimeLimit) struct StartConditionTests {
  @Test(
    .enabled(if: geteuid() == 0, "only root can cover /proc"),
    .disabled(if: Patience.isInstrumented, "the leak checker reads /proc"))
  func `without a proc file system a command starts a broker as elsewhere`() async throws {
    try await Sandbox.run { sandbox in
      let line = #"mount -t tmpfs none /proc && "$0" --state "$1" status && "$0" --state "$1" stop"#
      let run = try sandbox.run(
        "/usr/bin/env", ["unshare", "--mount", "sh", "-c", line, BuiltPrograms.command, sandbox.state])
      #expect(run.code == 0 && run.output.hasPrefix("broker "), "\(run.output)\(run.errors)")
    }
  }

  @Test func `a home whose path is no UTF-8 is named, and no other directory is taken`() async throws {
    try await Sandbox.run { sandbox in
      for name in ["STATE", "RUNTIME", "DATA", "CONFIG"] {
        sandbox.environment["XDG_" + name + (name == "RUNTIME" ? "_DIR" : "_HOME")] = nil
      }
      let line = #"HOME=$(printf '%s/\377' "$1") && mkdir "$HOME" && export HOME && exec "$0" status"#
      let run = try sandbox.run("/bin/sh", ["-c", line, BuiltPrograms.command, sandbox.root])
      #expect(run.code == 1 && run.errors.contains("HOME is not valid UTF-8"), "\(run.output)\(run.errors)")
    }
  }

  @Test func `a variable that the broker was started without is told as that`() async throws {
    try await Sandbox.run { sandbox in
      let arguments = try sandbox.configure(
        """
        { profiles: { default: { provider: "oidc", issuer: "http://127.0.0.1:1", clientId: "example",
                                 clientSecret: { env: "EXAMPLE_SECRET" },
                                 endpoints: { token: "http://127.0.0.1:1/token" } } } }
        """)
      _ = try sandbox.owner(arguments)
      let login = #"{"method":"refreshToken","refreshToken":"example"}"#
      let run = try sandbox.run(
        BuiltPrograms.command, ["--state", sandbox.state, "call", "login", "-"], input: login,
        environment: ["EXAMPLE_SECRET": "made up"])
      #expect(run.errors.contains("the broker was started without the variable"), "\(run.code) \(run.errors)")
    }
  }

  @Test func `too few descriptors for clients are told at the start`() async throws {
    try await Sandbox.run { sandbox in
      let line = #"ulimit -n 40 && exec "$0" --state "$1""#
      let run = try sandbox.run("/bin/sh", ["-c", line, BuiltPrograms.daemon, sandbox.state])
      #expect(run.code == 1 && run.errors.contains("ulimit -n"), "\(run.code) \(run.errors)")
    }
  }
}
