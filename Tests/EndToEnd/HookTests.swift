import JSON
import LinuxSystem
import TestSupport
import Testing

/// Hooks of a real broker: what they are told, what becomes of those that do not work, and a reload.
@Suite(.standardTimeLimit) struct HookTests {
  /// A configuration with one hook that appends what it gets to a file, and others.
  private static func text(_ file: String, events: String, others: String = "") -> String {
    let script = #"cat >>\"$1\"; echo \"$2\" >>\"$1\""#
    return """
      { hooks: [{ events: [\(events)], command: ["sh", "-c", "\(script)", "sh", "\(file)", "${profile}: ${event}"] },
                \(others)] }
      """
  }

  private static func contents(_ path: String) -> String {
    (try? FileDescriptor.open(path, .read).contents(limit: 1 << 20)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  @Test func `a hook is told what its events say, without a token, until a reload says otherwise`() async throws {
    try await Sandbox.run { sandbox in
      let (first, second) = (sandbox.root + "/first", sandbox.root + "/second")
      let names = #""login", "logout""#
      let owner = try sandbox.owner(try sandbox.configure(Self.text(first, events: names)))
      let client = try SocketWire(sandbox.socket)
      try client.register()
      let token = try client.accessToken()
      #expect(Patience.wait { Self.contents(first).hasSuffix("default: login\n") })
      let line = try #require(Self.contents(first).split(separator: "\n").first)
      let event = try JSONDocument(parsing: Array(line.utf8)).root
      #expect(try event.members().map(\.name) == ["sequence", "event", "profile", "time", "data"])
      #expect(try event["data"]?["method"]?.string() == "password" && !line.contains(token))
      try client.prove()
      _ = try sandbox.configure(Self.text(second, events: names))
      _ = try client.call("reloadConfig")
      _ = try client.call("logout")
      #expect(Patience.wait { Self.contents(second).hasSuffix("default: logout\n") })
      #expect(!Self.contents(first).contains("logout"))
      #expect(!owner.errorText.contains("hook"))
    }
  }

  @Test func `the end of the broker is told, and a hook that hangs holds up nobody`() async throws {
    try await Sandbox.run { sandbox in
      let file = sandbox.root + "/told"
      let others = """
        { events: ["login"], command: ["sh", "-c", "exec sleep 3600"] }, { events: ["login"], command: ["no-such"] },
        """
      let text = Self.text(file, events: #""shuttingDown""#, others: others)
      let owner = try sandbox.owner(try sandbox.configure(text))
      let client = try SocketWire(sandbox.socket)
      try client.register()
      for _ in 0..<100 { #expect(try !client.accessToken().isEmpty) }
      #expect(Patience.wait { owner.errorText.contains("a hook failed") })
      #expect(owner.errorText.contains(#"program=no-such reason="it was not found;"#), "\(owner.errorText)")
      try owner.send(.terminate)
      #expect(try owner.wait() == 0)
      #expect(Self.contents(file).hasSuffix(": shuttingDown\n"))
    }
  }

  @Test func `a hook whose program is missing is told by the check and the doctor`() async throws {
    try await Sandbox.run { sandbox in
      let file = sandbox.root + "/told"
      let options = try sandbox.configure(
        Self.text(file, events: #""login""#, others: #"{ events: ["login"], command: ["no-such"] }"#))
      let sentence = "hook 2: no-such was not found; install it, or write its absolute path"
      let check = try sandbox.run(BuiltPrograms.daemon, ["--state", sandbox.state] + options + ["--check-config"])
      #expect(check.code == 0 && check.errors == "authbroker: \(sentence)\n", "\(check.errors)")
      let doctor = try sandbox.run(
        BuiltPrograms.command,
        ["--state", sandbox.state] + options + ["doctor", "--no-start", "--no-network", "--json"])
      let findings = try JSONDocument(parsing: Array(doctor.output.utf8)).root.required("findings").elements()
      let hook = try findings.first { try $0["check"]?.string() == "configuration.hook" }
      #expect(try hook?["message"]?.string() == sentence && hook?["status"]?.string() == "warning")
    }
  }
}
