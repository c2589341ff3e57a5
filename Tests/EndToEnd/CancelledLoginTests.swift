import JSON
import LinuxSystem
import TestSupport
import Testing

/// A login that is cancelled, or takes longer than `--timeout`, leaves nobody logged in behind the user's back.
@Suite(.standardTimeLimit) struct CancelledLoginTests {
  private static let password = "example password 1\n"
  private static let plain =
    #"{"email":"ada@example.com","password":"example password 1","name":"Ada","twoFactor":"off"}"#

  /// A broker whose provider keeps an answer back after it has done what was asked.
  private func backend(_ sandbox: Sandbox, holding endpoint: String, account: String = plain) throws -> RESTBackend {
    let backend = try RESTBackend(sandbox, account: account)
    let profile = #"{ profiles: { default: { provider: "rest", baseUrl: "\#(backend.url)" } } }"#
    _ = try sandbox.owner(try sandbox.configure(profile))
    _ = try backend.ask("/misbehave", #"{"endpoint":"\#(endpoint)","name":"hold-after-commit"}"#)
    return backend
  }

  /// Starts a command whose secret is a line of its input, and waits until the provider keeps its answer back.
  private func start(_ words: [String], _ secret: String, _ sandbox: Sandbox, _ backend: RESTBackend) throws -> Program
  {
    let program = try sandbox.start(BuiltPrograms.command, ["--state", sandbox.state] + words)
    try program.write(Array(secret.utf8))
    program.closeInput()
    try awaitHeld(backend)
    return program
  }

  private func awaitHeld(_ backend: RESTBackend) throws {
    let held = try Patience.wait { try !backend.ask("/held").required("held").elements().isEmpty }
    #expect(held, "the provider was not asked")
  }

  /// Lets the provider answer, and waits until its session has been given back.
  private func expectNobody(_ sandbox: Sandbox, _ backend: RESTBackend) throws {
    _ = try backend.ask("/release", "{}")
    let isGivenBack = try Patience.wait {
      try !backend.ask("/ledger?event=logout").required("entries").elements().isEmpty
    }
    #expect(isGivenBack)
    let wire = try SocketWire(sandbox.socket)
    #expect(try wire.call("getSession").required("state").string() == "signedOut")
    #expect(try wire.refusal("getAccessToken") == "loginRequired")
  }

  @Test(arguments: [Signal.interrupt, .terminate])
  func `a signal cancels a login with a password`(_ signal: Signal) async throws {
    try await Sandbox.run { sandbox in
      let backend = try backend(sandbox, holding: "login")
      let words = ["login", "--email", "ada@example.com", "--password-stdin"]
      let program = try start(words, Self.password, sandbox, backend)
      try program.send(signal)
      #expect(try program.wait() == 128 + signal.number)
      #expect(program.errorText == "authbroker: the login was cancelled\n")
      try expectNobody(sandbox, backend)
    }
  }

  @Test func `the end of --timeout cancels a login with a password`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try backend(sandbox, holding: "login")
      let words = ["login", "--email", "ada@example.com", "--password-stdin", "--timeout", "1", "--json"]
      let program = try sandbox.start(BuiltPrograms.command, ["--state", sandbox.state] + words)
      try program.write(Array(Self.password.utf8))
      #expect(try program.wait() == 5)
      #expect(program.errorText == "authbroker: the login was not done in time; the login was cancelled\n")
      let output = try JSONDocument(parsing: try program.output.readToEnd()).root
      #expect(try output.required("error").required("data").required("kind").string() == "deadlineExceeded")
      try awaitHeld(backend)
      try expectNobody(sandbox, backend)
    }
  }

  @Test func `Ctrl-C while a code is checked cancels the login`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try backend(sandbox, holding: "verifyOtp", account: RESTBackend.account)
      let login = try sandbox.command(
        "login", "--email", "ada@example.com", "--password-stdin", "--json", input: Self.password)
      let result = try JSONDocument(parsing: Array(login.output.utf8)).root
      let flow = try result.required("challenge").required("otpFlowId").string()
      let program = try start(["verify-otp", flow, "--code-stdin"], try backend.code() + "\n", sandbox, backend)
      try program.send(.interrupt)
      #expect(try program.wait() == 130)
      #expect(program.errorText == "authbroker: the login was cancelled\n")
      try expectNobody(sandbox, backend)
    }
  }

  @Test func `Ctrl-C while an account is made says that there may be one`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try backend(sandbox, holding: "register")
      let words = ["register", "--email", "grace@example.com", "--password-stdin"]
      let program = try start(words, Self.password, sandbox, backend)
      try program.send(.interrupt)
      #expect(try program.wait() == 130)
      let text = "the login was cancelled; the account may have been created"
      #expect(program.errorText.contains(text), "\(program.errorText)")
      try expectNobody(sandbox, backend)
    }
  }

  @Test func `the end of --timeout has one exit code, whatever took so long`() async throws {
    try await Sandbox.run { sandbox in
      let backend = try RESTBackend(sandbox, account: Self.plain)
      let profile = #"{ profiles: { default: { provider: "rest", baseUrl: "\#(backend.url)" } } }"#
      _ = try sandbox.owner(try sandbox.configure(profile))
      let login = try sandbox.command("login", "--email", "ada@example.com", "--password-stdin", input: Self.password)
      #expect(login.code == 0, "\(login.errors)")
      _ = try backend.ask("/misbehave", #"{"endpoint":"refresh","name":"hold-before-commit"}"#)
      for words in [
        ["token", "--timeout", "0"], ["token", "--force-refresh", "--timeout", "1"], ["status", "--timeout", "0"],
        ["watch", "--timeout", "0.1"], ["call", "ping", "--timeout", "0"],
      ] {
        let outcome = try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state] + words)
        #expect(outcome.code == 5, "\(words) \(outcome.errors)")
      }
      _ = try backend.ask("/release", "{}")
    }
  }
}
