import TestSupport
import Testing

@testable import authbroker

/// Which commands show a broker that they have its state directory.
@Suite(.standardTimeLimit) struct StateProofCommandTests {
  private let scratch = Scratch()

  /// What a process is given tokens for is judged by the rules for that process.
  private static let never: Set = ["token", "header", "exec", "file", "helper", "whoami", "call", "unlock", "target"]

  private static var commands: [String] {
    CommandList.withMembers.filter { $0.group == nil }.map(\.name)
  }

  /// A run against an owner that refuses everything.
  private func run(_ command: String, _ owner: FakeOwner) throws -> CommandRun {
    let words = command.split(separator: " ").map(String.init)
    let line = CommandTable.asking[command] ?? CommandTable.failing[command] ?? []
    let input = CommandTable.input[command] ?? "not-a-secret\nnor-this-one\n"
    return try CommandRun(words + line, in: scratch, input: input)
  }

  @Test(arguments: commands)
  func `a command shows it with its first request, or never`(_ command: String) throws {
    let owner = try FakeOwner(in: scratch) { method, _ in
      method == "prove" ? #""result":{}"# : FakeOwner.refusal(1001, "loginRequired", "No.")
    }
    let run = try run(command, owner)
    let isAdministrative = CommandList.withMembers.first { $0.name == command }?.isAdministrative == true
    if owner.requests.isEmpty {
      #expect(owner.proofs.isEmpty, "\(owner.proofs)")
    } else {
      #expect(owner.proofs == (isAdministrative ? [true] : []), "\(run.errors)\(owner.requests)")
    }
    let word = command.split(separator: " ").first.map(String.init) ?? ""
    #expect(!isAdministrative || !Self.never.contains(word))
    #expect(!scratch.names.contains { $0.hasPrefix("proof-") })
  }

  @Test(arguments: [
    "login", "register", "verify-otp", "account show", "logout", "status", "sessions", "profiles", "watch", "doctor",
    "local users", "lock", "rekey", "reload", "stop", "access explain", "socket open", "socket list", "socket close",
    "audit", "consent list", "consent allow", "consent deny",
  ])
  func `those of the contract do`(_ command: String) throws {
    let owner = try FakeOwner(in: scratch) { method, _ in
      method == "prove" ? #""result":{}"# : FakeOwner.refusal(1001, "loginRequired", "No.")
    }
    _ = try run(command, owner)
    #expect(owner.proofs.first == true && !owner.requests.isEmpty)
  }

  @Test(arguments: ["token", "header", "exec", "file", "helper curl", "helper git", "helper docker", "helper go"])
  func `those that give tokens away ask without`(_ command: String) throws {
    let owner = try FakeOwner(in: scratch) { _, _ in FakeOwner.refusal(1001, "loginRequired", "No.") }
    let words = command.split(separator: " ").map(String.init)
    let line = command == "file" ? [scratch.file("token")] : CommandTable.asking[command] ?? []
    _ = try CommandRun(words + line, in: scratch, input: CommandTable.input[command] ?? "")
    #expect(owner.proofs.isEmpty && !owner.requests.isEmpty)
  }

  @Test func `a login asks for a code after three requests on one connection`() throws {
    let session =
      #""profile":"work","provider":"oidc","state":"signedOut","scopes":[],"refreshTokenPresent":false"#
    let owner = try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "getSession": return #""result":{\#(session),"login":[{"method":"password","fields":["email","password"]}]}"#
      case "login":
        return #""result":{"status":"otpRequired","challenge":{"otpFlowId":"f","profile":"work","method":"sms","#
          + #""maskedDestination":"","otpLength":6,"expiresAt":"2099-01-01T00:00:00Z","#
          + #""nextResendAt":"2099-01-01T00:00:00Z","attemptsRemaining":5,"backupCodesAllowed":false}}"#
      default: return #""result":{"status":"authenticated","session":{\#(session)}}"#
      }
    }
    let steps = [
      CommandRun.Step(question: "Password: ", answer: "not-a-secret\n"),
      CommandRun.Step(question: "Code", answer: "123456\n"),
    ]
    let run = try CommandRun(atTerminal: steps, ["login", "--email", "a@example.com"], in: scratch)
    #expect(run.code == 0, "\(run.output)")
    let requests = owner.requests.map { $0.prefix { $0 != " " } }
    #expect(requests == ["getSession", "login", "verifyOtp"], "\(owner.requests)")
    #expect(owner.proofs == [true])
    #expect(owner.guests == 1)
  }
}
