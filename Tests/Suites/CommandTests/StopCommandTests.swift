import TestSupport
import Testing

@testable import authbroker

/// `stop` and others where no broker runs.
@Suite(.standardTimeLimit) struct StopCommandTests {
  private let scratch = Scratch()

  @Test func `there is nothing to stop where no broker runs`() throws {
    let run = try CommandRun(["stop"], in: scratch)
    #expect(run.code == 0 && run.errors == "authbroker: no broker is running\n", "\(run.errors)")
    let json = try CommandRun(["stop", "--json"], in: scratch)
    #expect(json.code == 0 && json.output == "{}\n" && json.errors.isEmpty)
    let other = try CommandRun(["stop"], in: scratch, environment: ["AUTHBROKER_SOCKET": scratch.file("none")])
    #expect(other.code == 8, "a broker that somebody named is missed")
  }

  @Test func `whoever may not start a broker is told who does`() throws {
    let run = try CommandRun(["status", "--no-start"], in: scratch)
    #expect(run.code == 8)
    let advice = "without --no-start starts one, such as: authbroker --state \(scratch.file("state")) status\n"
    #expect(run.errors.hasSuffix(advice), "\(run.errors)")
  }
}
