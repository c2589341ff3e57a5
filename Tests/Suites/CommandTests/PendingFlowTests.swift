import TestSupport
import Testing

@testable import authbroker

/// Logins that are named by their handle, and are not there.
@Suite(.standardTimeLimit) struct PendingFlowTests {
  private let scratch = Scratch()

  private static let commands = [["login", "--flow"], ["verify-otp", "--code-stdin"]]

  private func owner() throws -> FakeOwner {
    try FakeOwner(in: scratch) { method, _ in
      switch method {
      case "listSessions": #""result":{"sessions":[]}"#
      default: FakeOwner.refusal(1024, "flowNotFound", "There is no such pending login; it may have been answered.")
      }
    }
  }

  @Test(arguments: commands)
  func `a login that is not there is to be begun again, and is no wrong code`(words: [String]) throws {
    let owner = try owner()
    let run = try CommandRun(words + ["bogus"], in: scratch, input: "123456\n")
    #expect(run.code == 3, "\(run.errors)")
    let end = "it may have been answered; begin another login with: authbroker --state \(scratch.file("state")) login\n"
    #expect(run.errors.hasSuffix(end), "\(run.errors)")
    #expect(!owner.requests.isEmpty)
  }

  @Test(arguments: commands, ["no handle", "", "a\u{1B}[2J", String(repeating: "a", count: 129)])
  func `what cannot be the handle of a login is not sent`(words: [String], text: String) throws {
    let owner = try owner()
    let run = try CommandRun(words + [text], in: scratch, input: "123456\n")
    #expect(run.code == 2, "\(run.errors)")
    let end = "is not the name of a login; to see which ones wait: authbroker --state "
    #expect(run.errors.hasSuffix(end + "\(scratch.file("state")) sessions\n"), "\(run.errors)")
    #expect(!run.errors.contains("\u{1B}") && owner.requests.isEmpty)
  }
}
