import TestSupport
import Testing

@testable import authbroker

/// What `status` says of the embedded provider's messages.
@Suite(.standardTimeLimit) struct StatusDeliveryTests {
  private let scratch = Scratch()

  private static let working = #"{"channel":"sms","sent":3,"failed":0,"underWay":1}"#
  private static let failing =
    #"{"channel":"smtp","sent":3,"failed":1,"underWay":0,"lastFailure":"mail.example.com:587: refused\u001b[31m","#
    + #""lastFailureAt":"2026-01-02T03:04:05Z"}"#

  private func status(_ delivery: String) throws -> CommandRun {
    let status = FakeOwner.status().replacing(#""profiles":[]"#, with: #""delivery":[\#(delivery)],"profiles":[]"#)
    return try withExtendedLifetime(FakeOwner(in: scratch) { _, _ in status }) {
      try CommandRun(["status"], in: scratch)
    }
  }

  @Test func `each way is a line, with why its last try has failed`() throws {
    let run = try status(Self.working + "," + Self.failing)
    #expect(run.code == 0, "\(run.errors)")
    let lines = run.output.split(separator: "\n").filter { $0.hasPrefix("messages ") }
    #expect(
      lines == [
        "messages sms: 3 sent, 0 failed",
        "messages smtp: 3 sent, 1 failed; mail.example.com:587: refused?[31m (2026-01-02 03:04)",
      ], "\(run.output)")
  }

  @Test func `where nothing was sent, nothing is said`() throws {
    let run = try status("")
    #expect(run.code == 0 && !run.output.contains("messages"), "\(run.output)")
  }
}
