import JSON
import LinuxSystem
import TestSupport
import Testing

/// What a failed call leaves behind for whoever looks into it: a line in the log, under the name that the error has.
@Suite(.standardTimeLimit) struct FailedLoginTests {
  private static let password = "example password 1"

  /// The error that the command has printed.
  private static func error(_ outcome: Sandbox.Outcome) throws -> JSONNode {
    try JSONDocument(parsing: Array(outcome.output.utf8)).root.required("error").required("data")
  }

  private static func log(_ sandbox: Sandbox) throws -> [Substring] {
    String(decoding: try Directory.bytes(of: sandbox.state + "/broker.log"), as: UTF8.self).split(separator: "\n")
  }

  @Test func `the correlationId of a failed login leads to a line in the log that says no secret`() async throws {
    try await Sandbox.run { sandbox in
      let register = try sandbox.command(
        "register", "--email", "ada@example.com", "--phone", "+15550100042", "--password-stdin",
        input: Self.password + "\n")
      #expect(register.code == 3, "\(register.errors)")
      let first = try Outbox.newestCode(in: sandbox.outbox)
      #expect(try sandbox.command("verify-otp", "--code-stdin", input: first + "\n").code == 0)
      let login = ["--json", "login", "--email", "ada@example.com", "--password-stdin"]
      let wrong = try sandbox.run(
        BuiltPrograms.command, ["--state", sandbox.state] + login, input: "canary password\n")
      let right = try sandbox.run(
        BuiltPrograms.command, ["--state", sandbox.state] + login, input: Self.password + "\n")
      let flow = try JSONDocument(parsing: Array(right.output.utf8)).root.required("challenge").required("otpFlowId")
      let code = try sandbox.command("--json", "verify-otp", try flow.string(), "--code-stdin", input: "canary\n")
      let gone = try sandbox.command("--json", "login", "--flow", "no-such-flow")
      for (outcome, method, kind, profile) in [
        (wrong, "login", "invalidCredentials", true), (code, "verifyOtp", "otpInvalid", true),
        (gone, "awaitLogin", "flowNotFound", false),
      ] {
        let name = try Self.error(outcome).required("correlationId").string()
        var lines: [Substring] = []
        _ = try Patience.wait {
          lines = try Self.log(sandbox).filter { $0.hasSuffix("correlationId=" + name) }
          return !lines.isEmpty
        }
        #expect(lines.count == 1, "\(method)")
        let line = lines.first ?? ""
        #expect(line.contains(" info: a call failed method=\(method) kind=\(kind) "), "\(line)")
        #expect(line.contains(" profile=default ") == profile, "\(line)")
      }
      let log = try Self.log(sandbox).joined()
      for secret in ["ada@", "canary", Self.password, try flow.string()] { #expect(!log.contains(secret), "\(secret)") }
    }
  }

  @Test func `a program that fails in a loop does not fill the log`() async throws {
    try await Sandbox.run { sandbox in
      #expect(try sandbox.command("status").code == 0)
      let wire = try SocketWire(sandbox.socket)
      for _ in 0..<300 { #expect(try wire.refusal("awaitLogin", #"{"loginFlowId":"none"}"#) == "flowNotFound") }
      let log = try Self.log(sandbox)
      let told = log.count { $0.contains("a call failed") }
      #expect((1...120).contains(told))
      // What a client learns from is not told; what programs ask for has lines of its own.
      #expect(try wire.refusal("login") == "missingCredential")
      #expect(try Self.log(sandbox).count == log.count)
      #expect(try wire.refusal("getAccessToken") == "loginRequired")
      #expect(
        Patience.wait {
          (try? Self.log(sandbox).contains { $0.contains("method=getAccessToken kind=loginRequired") }) == true
        })
      #expect(try sandbox.command("stop").code == 0)
      let dropped = try Self.log(sandbox).filter { $0.contains("dropped lines") }.compactMap { line in
        line.split(separator: " ").first { $0.hasPrefix("lines=") }.flatMap { Int($0.dropFirst(6)) }
      }
      #expect(told + dropped.reduce(0, +) == 300)
    }
  }

  @Test func `a configuration that is refused is told in the log with its time`() async throws {
    try await Sandbox.run { sandbox in
      let options = try sandbox.configure("{\n nonsense: 1 }")
      #expect(try sandbox.run(BuiltPrograms.command, ["--state", sandbox.state] + options + ["token"]).code == 1)
      let line = try #require(try Self.log(sandbox).first)
      let words = line.split(separator: " ")
      #expect(words.first?.first == "2" && words.first?.last == "Z" && words.dropFirst().first == "error:", "\(line)")
      #expect(line.contains("/config.json:2:2: unknown key"), "\(line)")
    }
  }
}
