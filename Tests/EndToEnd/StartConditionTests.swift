import Glibc
import LinuxSystem
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

  @Test(.disabled(if: Patience.isInstrumented, "the sanitizer wants to be loaded first"))
  func `a preloaded library that changes the environment hides no argument`() async throws {
    try await Sandbox.run { sandbox in
      let library = try Self.settingLibrary(in: sandbox)
      for program in [BuiltPrograms.daemon, BuiltPrograms.command] {
        let run = try sandbox.run(program, ["--version"], environment: ["LD_PRELOAD": library])
        #expect(run.code == 0 && run.output.hasPrefix("authbroker"), "\(run.code) \(run.output)\(run.errors)")
      }
    }
  }

  @Test(
    .enabled(if: geteuid() == 0, "only root can cover /proc"),
    .disabled(if: Patience.isInstrumented, "the leak checker reads /proc"))
  func `arguments that cannot be read are told, and not taken for none`() async throws {
    try await Sandbox.run { sandbox in
      let library = try Self.settingLibrary(in: sandbox)
      let line = #"mount -t tmpfs none /proc && LD_PRELOAD="$2" exec "$0" --state "$1" status"#
      for program in [BuiltPrograms.daemon, BuiltPrograms.command] {
        let run = try sandbox.run(
          "/usr/bin/env", ["unshare", "--mount", "sh", "-c", line, program, sandbox.state, library])
        #expect(run.code == 1 && run.errors.contains("the arguments cannot be read"), "\(run.code) \(run.errors)")
      }
    }
  }

  /// Makes a library that adds a variable before `main` of the program that loads it, as libfaketime does.
  private static func settingLibrary(in sandbox: Sandbox) throws -> String {
    let (source, library) = (sandbox.root + "/setting.c", sandbox.root + "/setting.so")
    try Directory.write(
      """
      #include <stdlib.h>
      __attribute__((constructor)) static void set(void) { setenv("SET_BEFORE_MAIN", "1", 1); }
      """, to: source)
    let compiler = try sandbox.run(
      "/usr/bin/env", ["clang", "-shared", "-fPIC", "-o", library, source],
      environment: ["PATH": Environment.current["PATH"] ?? ""])
    try #require(compiler.code == 0, "\(compiler.errors)")
    return library
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
