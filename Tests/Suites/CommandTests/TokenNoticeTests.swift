import BrokerProtocol
import TestSupport
import Testing

@testable import authbroker

/// What a person is told of a token that expires sooner than was asked for.
@Suite(.standardTimeLimit) struct TokenNoticeTests {
  private let scratch = Scratch()

  private func run(_ words: [String], _ members: String) throws -> CommandRun {
    let end = Timestamp(milliseconds: LocalTime.now.milliseconds + 60_000)
    let owner = try FakeOwner(in: scratch) { _, _ in
      #""result":{"profile":"default","accessToken":"made-up","tokenType":"Bearer","expiresAt":"\#(end)"\#(members)}"#
    }
    return try withExtendedLifetime(owner) { try CommandRun(["token"] + words, in: scratch) }
  }

  @Test(arguments: [
    (#","minValidityCapped":true"#, "the provider's tokens live no longer"),
    (#","offline":true"#, "the provider cannot be reached"), ("", "no newer one is available"),
  ])
  func `a token with less time than was asked for is printed, and the cause is told`(
    _ members: String, _ cause: String
  ) throws {
    let run = try run(["--min-validity", "300"], members)
    #expect(run.code == 0 && run.output == "made-up\n", "\(run.output)")
    #expect(run.errors.hasSuffix(", sooner than --min-validity 300 asks; \(cause)\n"), "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
  }

  @Test func `nothing is told where the time is enough, or none was asked for`() throws {
    for words in [["--min-validity", "30"], []] { #expect(try run(words, "").errors.isEmpty) }
  }
}
