import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

/// `provider-check` with a real broker and a real backend.
@Suite(.standardTimeLimit) struct ProviderCheckTests {
  private static let account = #"{"email":"ann@example.com","password":"made-up-password","name":"Ann"}"#
  private static let words = ["--login", "--email", "ann@example.com", "--password-stdin"]

  /// A broker with a profile on a backend, and one on the embedded provider.
  private func start(_ sandbox: Sandbox) throws -> RESTBackend {
    let backend = try RESTBackend(sandbox, account: Self.account)
    let text =
      "{ profiles: { default: { provider: \"local\" }, shop: { provider: \"rest\", baseUrl: \"\(backend.url)\" }, "
      + "wrong: { provider: \"rest\", baseUrl: \"\(backend.url)/api\" } } }"
    _ = try sandbox.owner(try sandbox.configure(text))
    return backend
  }

  private func check(_ sandbox: Sandbox, _ arguments: [String], input: String = "") throws -> Sandbox.Outcome {
    try sandbox.run(
      BuiltPrograms.command, ["--state", sandbox.state, "provider-check"] + arguments, input: input)
  }

  private func logouts(_ backend: RESTBackend) throws -> Int {
    try backend.ask("/ledger?event=request").required("entries").elements().count {
      try $0.required("path").string() == "/auth/logout" && $0.required("method").string() == "POST"
    }
  }

  @Test func `a look reads, a trial has a session of its own, and the profile's lives on`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try start(sandbox)
      let login = #"{"profile":"shop","email":"ann@example.com","password":"made-up-password"}"#
      let client = try SocketWire(sandbox.socket)
      _ = try client.call("login", login)
      let before = try client.call("getAccessToken", #"{"profile":"shop"}"#).required("accessToken").string()
      let look = try check(sandbox, ["shop"])
      #expect(look.code == 0 && look.output.contains("GET /auth/me without a token is rejected"), "\(look.output)")
      let trial = try check(sandbox, ["shop", "--json"] + Self.words, input: "made-up-password\n")
      #expect(trial.code == 0, "\(trial.output)\(trial.errors)")
      let findings = try JSONDocument(parsing: Array(trial.output.utf8)).root.required("trial").elements()
      #expect(try findings.contains { try $0.required("check").string() == "refreshAfterLogout" })
      #expect(try findings.allSatisfy { try ["ok", "note"].contains($0.required("level").string()) })
      #expect(!trial.output.contains(before) && !trial.output.contains("made-up-password"))
      #expect(
        try client.call("getAccessToken", #"{"profile":"shop"}"#).required("accessToken").string() == before)
      #expect(try client.call("getSession", #"{"profile":"shop"}"#).required("state").string() == "authenticated")
      #expect(try logouts(backend) == 1)
    }
  }

  @Test func `each kind of failure has its exit code`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try start(sandbox)
      #expect(try check(sandbox, ["wrong"]).code == 1)
      let wrong = try check(sandbox, ["shop"] + Self.words, input: "a-wrong-password\n")
      #expect(wrong.code == 4 && wrong.output.contains("there is no session"), "\(wrong.output)\(wrong.errors)")
      #expect(try check(sandbox, ["nowhere"]).code == 2)
      #expect(try check(sandbox, ["shop", "--login", "--email", "ann@example.com"]).code == 2)
      _ = try backend.ask("/listen", #"{"open":false}"#)
      let away = try check(sandbox, ["shop"] + Self.words, input: "made-up-password\n")
      #expect(away.code == 5 && away.output.contains("nothing answers"), "\(away.output)\(away.errors)")
    }
  }

  @Test func `a secret that cannot be had is found without a login, and nothing of it is shown`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try RESTBackend(sandbox, account: Self.account)
      let word = "leaked-secret"
      try Directory.write(word, to: sandbox.root + "/open")
      #expect(chmod(sandbox.root + "/open", 0o644) == 0)
      let sources = [
        "missing": "{ file: \"\(sandbox.root)/nothing\" }", "open": "{ file: \"\(sandbox.root)/open\" }",
        "variable": "{ env: \"AUTHBROKER_TEST_NOT_SET\" }",
        "command": "{ command: [\"/bin/sh\", \"-c\", \"echo \(word); exit 1\"] }",
        "good": "{ command: [\"/bin/echo\", \"\(word)\"] }",
      ]
      let profiles = sources.map { name, source in
        "\(name): { provider: \"rest\", baseUrl: \"\(backend.url)\", clientId: \"shop\", clientSecret: \(source), "
          + "mapping: { clientAuth: \"basic\" } }"
      }
      _ = try sandbox.owner(try sandbox.configure("{ profiles: { \(profiles.joined(separator: ", ")) } }"))
      for name in sources.keys {
        let dry = try check(sandbox, [name])
        #expect(dry.code == (name == "good" ? 0 : 1), "\(name): \(dry.output)\(dry.errors)")
        #expect(dry.output.contains("clientSecret") && !(dry.output + dry.errors).contains(word), "\(name)")
        guard name != "good" else { continue }
        #expect(dry.output.contains("cannot be used"), "\(dry.output)")
        #expect(dry.output.contains("\nfix the failures above before trying a login\n"), "\(dry.output)")
        // It would fail at the first request: nobody is asked for a password.
        #expect(try check(sandbox, [name, "--login"]).code == 1)
      }
      let posts = try backend.ask("/ledger?event=request").required("entries").elements().count {
        try $0.required("method").string() == "POST"
      }
      #expect(posts == 0)
    }
  }

  @Test func `an issuer with a slash too many is told by a login, by the doctor and by a look`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try OIDCBackend(sandbox)
      _ = try sandbox.owner(try backend.configure(sandbox, issuer: backend.issuer + "/"))
      let login = try sandbox.command("login", "--method", "device", "--json")
      #expect(login.code == 1 && login.errors.contains("under another issuer; check issuer"), "\(login.errors)")
      #expect(login.errors.contains("; see what is wrong with: authbroker --state "), "\(login.errors)")
      #expect(login.errors.hasSuffix("provider-check default\n"), "\(login.errors)")
      let error = try JSONDocument(parsing: Array(login.output.utf8)).root.required("error").required("data")
      #expect(try error.required("kind").string() == "configInvalid")
      #expect(try error.required("nextAction").string() == "fixConfig" && !error.required("retryable").bool())
      let doctor = try sandbox.command("doctor", "--profile", "default")
      #expect(doctor.code == 1 && doctor.output.contains("provider-check default"), "\(doctor.output)")
      let look = try check(sandbox, ["default"])
      #expect(look.code == 1 && look.output.contains("write: issuer: \"\(backend.issuer)\""), "\(look.output)")
      #expect(try backend.tokenRequests().isEmpty)
    }
  }

  @Test(arguments: ["device", "browser"])
  func `a trial that nobody finishes elsewhere ends with the time of --timeout`(_ method: String) async throws {
    try await Sandbox.run { sandbox in
      let backend = try OIDCBackend(sandbox)
      _ = try sandbox.owner(try backend.configure(sandbox))
      let trial = try check(sandbox, ["--login", "--method", method, "--timeout", "5", "--json"])
      let text = " s (--timeout); ending the trial\n"
      #expect(trial.code == 3 && trial.errors.contains(text), "\(trial.output)\(trial.errors)")
      let root = try JSONDocument(parsing: Array(trial.output.utf8)).root
      #expect(try root.required("exitCode").integer() == 3 && root.required("tried").bool())
    }
  }

  @Test func `the embedded provider is tried with an account of the user`() async throws {
    try await Sandbox.run { sandbox in
      _ = try start(sandbox)
      let register = try sandbox.command(
        "register", "--profile", "default", "--email", "ann@example.com", "--password-stdin",
        input: "made-up-password\n")
      #expect(register.code == 0, "\(register.errors)")
      let arguments = ["default", "--wrong-password", "--reuse"] + Self.words
      let trial = try check(sandbox, arguments, input: "made-up-password\n")
      #expect(trial.code == 0 && trial.output.contains("a spent refresh token is rejected"), "\(trial.output)")
    }
  }

  @Test(arguments: [Signal.interrupt, .terminate])
  func `a trial that is interrupted ends its session first`(_ signal: Signal) async throws {
    try await Sandbox.run { sandbox in
      let backend = try start(sandbox)
      _ = try backend.ask("/misbehave", #"{"endpoint":"refresh","name":"hold-before-commit"}"#)
      let program = try sandbox.start(
        BuiltPrograms.command, ["--state", sandbox.state, "provider-check", "shop"] + Self.words)
      try program.write(Array("made-up-password\n".utf8))
      var output = ""
      while !output.contains("the provider names the user: ") {
        let more = try program.output.read(until: Patience.end)
        guard !more.isEmpty else { throw TestFailure("the trial ended: \(output)\(program.errorText)") }
        output += String(decoding: more, as: UTF8.self)
      }
      try program.send(signal)
      // The refresh is asked for after a pause.
      let deadline = Patience.end
      while try backend.ask("/release", "{}").required("released").integer() == 0, BootClock.now < deadline {
        usleep(50_000)
      }
      output += String(decoding: try program.output.readToEnd(), as: UTF8.self)
      #expect(try program.wait() == 1)
      #expect(output.contains("\ninterrupted") && output.contains("the session is ended"), "\(output)")
      #expect(try logouts(backend) == 1)
    }
  }
}
