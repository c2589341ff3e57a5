import JSON
import TestSupport
import Testing

@testable import authbroker

/// The address that a browser on another computer ended at, pasted at the terminal.
@Suite(.standardTimeLimit) struct RedirectPasteTests {
  private let scratch = Scratch()

  private static let address = "http://127.0.0.1:43123/callback?code=c&state=s"

  private func owner() throws -> FakeOwner {
    try FakeOwner(in: scratch) { method, params in
      switch method {
      case "login":
        #""result":{"status":"userActionRequired","action":{"loginFlowId":"f","profile":"default","kind":"browser","#
          + #""verificationUri":"https://id.example/a","expiresAt":"2099-01-01T00:00:00Z"}}"#
      case "awaitLogin": FakeOwner.refusal(1087, "deadlineExceeded", "Not yet.")
      case "completeLogin" where (try? params?["redirectUrl"]?.string()) != Self.address + "\n":
        #""error":{"code":-32602,"message":"This address is cut off.","data":{"kind":"invalidParams","#
          + #""nextAction":"fixRequest","retryable":false,"attemptsRemaining":9}}"#
      case "completeLogin": LoginCommandTests.session
      default: FakeOwner.refusal(-32601, "methodNotFound", "No.")
      }
    }
  }

  @Test func `a wrong address is told, and the right one finishes the login`() throws {
    let owner = try owner()
    let run = try CommandRun(
      atTerminal: [
        .init(question: "and paste it here", answer: "\n  \nhttp://127.0.0.1:43123/callback?co\n"),
        .init(question: "cut off; 9 attempts left", answer: Self.address + "\n"),
      ], ["login", "--method", "browser"], in: scratch, environment: ["SSH_CONNECTION": "192.0.2.7 1 192.0.2.5 22"])
    #expect(run.code == 0 && run.output.contains("logged in to default as ada@example.com"), "\(run.output)")
    let brought = owner.requests.filter { $0.hasPrefix("completeLogin") }
    #expect(brought.count == 2 && brought.allSatisfy { $0.contains(#""loginFlowId":"f""#) }, "\(brought)")
  }

  @Test func `a line that the terminal has cut off is no address, and costs no attempt`() throws {
    let owner = try owner()
    let long = Self.address + "&more=" + String(repeating: "x", count: 5000)
    let run = try CommandRun(
      atTerminal: [
        .init(question: "and paste it here", answer: long + "\n"),
        .init(question: "cuts a line off behind 4095 characters", answer: Self.address + "\n"),
      ], ["login", "--method", "browser"], in: scratch, environment: ["SSH_CONNECTION": "192.0.2.7 1 192.0.2.5 22"])
    #expect(run.code == 0 && run.output.contains("logged in to default as ada@example.com"), "\(run.output)")
    #expect(owner.requests.filter { $0.hasPrefix("completeLogin") }.count == 1)
  }

  @Test func `nothing is read where no person waits at a terminal`() throws {
    let owner = try owner()
    let run = try CommandRun(
      ["login", "--method", "browser", "--timeout", "1"], in: scratch, input: Self.address + "\n")
    #expect(run.code == 3 && !run.errors.contains("paste"), "\(run.errors)")
    #expect(!owner.requests.contains { $0.hasPrefix("completeLogin") })
  }
}
