import TestSupport
import Testing

/// Programs that `authbroker exec` becomes.
@Suite(.standardTimeLimit) struct ExecTests {
  @Test func `a program has the token in its environment and nowhere else, and no parent stays`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      try SocketWire(sandbox.socket).register()
      let token = try SocketWire(sandbox.socket).accessToken()
      let script = #"printf '%s\n' "$$" "$GH_TOKEN" "$AUTH" "${ACCESS_TOKEN-none}"; tr '\0' ' ' </proc/$$/cmdline"#
      let program = try sandbox.start(
        BuiltPrograms.command,
        [
          "--state", sandbox.state, "exec", "--env", "GH_TOKEN", "--env", "AUTH=Bearer {token}", "--", "sh", "-c",
          script, "--quiet",
        ], input: .nothing)
      let lines = String(decoding: try program.output.readToEnd(), as: UTF8.self).split(separator: "\n")
      #expect(try program.wait() == 0)
      try #require(lines.count == 5, "\(program.errorText)")
      #expect(lines[0] == "\(program.pid)")
      #expect(lines[1] == token)
      #expect(lines[2] == "Bearer \(token)")
      #expect(lines[3] == "none")
      #expect(lines[4].hasPrefix("sh -c ") && lines[4].hasSuffix(" --quiet ") && !lines[4].contains(token))
      #expect(program.errorText.hasPrefix("authbroker: the token expires in "), "\(program.errorText)")
    }
  }

  @Test func `a program finds signals, rights and descriptors as a shell would have left them`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      try SocketWire(sandbox.socket).register()
      let words = ["--state", sandbox.state, "exec", "-q", "--"]
      let look = ["-E", "^(SigBlk|SigIgn|NoNewPrivs|VmLck):", "/proc/self/status"]
      // What starts the tests may ignore signals itself.
      let wanted = try sandbox.run("/bin/grep", look)
      let found = try sandbox.run(BuiltPrograms.command, words + ["grep"] + look)
      #expect(found.output == wanted.output && found.output.contains("VmLck:\t       0 kB"), "\(found.output)")
      #expect(found.errors.isEmpty)
      // 3 is the directory itself, 9 what tells the test of the program's end.
      let descriptors = try sandbox.run(BuiltPrograms.command, words + ["ls", "/proc/self/fd"])
      #expect(descriptors.output == "0\n1\n2\n3\n9\n")
    }
  }

  @Test func `the rest of the environment is the caller's, byte for byte`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      try SocketWire(sandbox.socket).register()
      let script =
        #"X=$(printf '\377\1') ACCESS_TOKEN=old exec authbroker --state "$0" exec -q -- "#
        + #"sh -c 'printf %s "$X" | od -An -tx1; tr "\0" "\n" </proc/$$/environ | grep -c ^ACCESS_TOKEN='"#
      let outcome = try sandbox.run("/bin/sh", ["-c", script, sandbox.state])
      #expect(outcome.output == " ff 01\n1\n", "\(outcome.errors)")
    }
  }

  @Test func `what cannot run ends as in a shell, and costs no token`() async throws {
    try await Sandbox.run { sandbox in
      try Directory.write("text", to: sandbox.root + "/text")
      for (name, code) in [("no-such-program", Int32(127)), ("./no/such", 127), (sandbox.root + "/text", 126)] {
        let outcome = try sandbox.command("exec", name)
        #expect(outcome.code == code)
        #expect(outcome.errors.hasPrefix("authbroker: \(name)") && outcome.output.isEmpty, "\(outcome.errors)")
      }
      #expect(try sandbox.command("exec").code == 2)
      #expect(try sandbox.command("exec", "--env", "LD_PRELOAD", "true").code == 2)
      // No broker was started for any of them.
      #expect(try sandbox.command("--no-start", "status").code == 8)
      _ = try sandbox.owner()
      #expect(try sandbox.command("exec", "true").code == 3)
      try SocketWire(sandbox.socket).register()
      #expect(try sandbox.command("exec", "sh", "-c", "exit 7").code == 7)
    }
  }

  @Test func `a token that would live too short is refreshed, and refused where that does not help`() async throws {
    try await Sandbox.run { sandbox in
      let options = try sandbox.configure(
        #"{ profiles: { default: { provider: "local" } }, local: { accessTokenLifetimeSeconds: 60 } }"#)
      _ = try sandbox.owner(options)
      try SocketWire(sandbox.socket).register()
      let old = try SocketWire(sandbox.socket).accessToken()
      let words = ["--state", sandbox.state] + options + ["exec", "--min-life"]
      let refused = try sandbox.run(BuiltPrograms.command, words + ["300", "--", "echo", "ran"])
      #expect(refused.code == 5 && refused.output.isEmpty)
      #expect(refused.errors.contains("even a new token expires in ") && refused.errors.contains("--min-life 300"))
      #expect(try SocketWire(sandbox.socket).accessToken() != old)
      let script = #"printf %s "$ACCESS_TOKEN""#
      let allowed = try sandbox.run(BuiltPrograms.command, words + ["30", "--", "sh", "-c", script])
      #expect(try allowed.code == 0 && allowed.output == SocketWire(sandbox.socket).accessToken(), "\(allowed.errors)")
    }
  }

  @Test func `no token goes to another machine in the clear, also where the profile is named`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      let client = try SocketWire(sandbox.socket)
      try client.register()
      let token = try client.accessToken()
      let ask = { (scheme: String) throws -> Sandbox.Outcome in
        let script = #"printf 'protocol=%s\nhost=evil.example\n\n' "$1" | "$0" --state "$2" helper git -p default get"#
        return try sandbox.run("/bin/sh", ["-c", script, BuiltPrograms.command, scheme, sandbox.state])
      }
      #expect(try ask("https").output.contains("password=\(token)\n"))
      #expect(try ask("http").output.isEmpty)
      for words in [["helper", "curl"], ["header", "--url"], ["exec", "--url"]] {
        let program = words[0] == "exec" ? ["--", "/bin/echo"] : []
        let command = ["--state", sandbox.state] + words + ["http://evil.example", "-p", "default"] + program
        let refused = try sandbox.run(BuiltPrograms.command, command)
        #expect(refused.code != 0 && !refused.output.contains(token), "\(words): \(refused.errors)")
      }
    }
  }
}
