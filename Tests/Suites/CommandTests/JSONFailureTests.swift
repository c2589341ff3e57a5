import JSON
import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

/// What `--json` prints where the command itself has found what is wrong.
@Suite(.standardTimeLimit) struct JSONFailureTests {
  private let scratch = Scratch()

  private static func error(_ run: CommandRun) throws -> JSONNode {
    let lines = run.output.split(separator: "\n")
    #expect(lines.count == 1, "\(run.output)")
    return try JSONDocument(parsing: Array((lines.first ?? "{}").utf8)).root.required("error")
  }

  @Test(arguments: [
    ["status", "--json", "--nonsense"], ["--json", "no-such-command"], ["token", "--json", "operand"],
    ["token", "--json", "--scope", " "], ["sessions", "--profile", "No Name", "--json"],
  ])
  func `a command line that cannot be followed is an error object`(_ words: [String]) throws {
    let run = try CommandRun(words + ["--no-start"], in: scratch)
    #expect(run.code == 2, "\(run.errors)")
    let error = try Self.error(run)
    #expect(try error.required("code").integer() == 2)
    #expect(try error.required("data").required("kind").string() == "usage")
    #expect(try error.required("data").required("nextAction").string() == "fixRequest")
    #expect(run.errors == "authbroker: \(try error.required("message").string())\n")
  }

  @Test func `a broker that is not there is an error object`() throws {
    let run = try CommandRun(["status", "--json", "--no-start"], in: scratch)
    #expect(run.code == 8)
    let error = try Self.error(run)
    #expect(try error.required("code").integer() == 8)
    #expect(try error.required("data").required("kind").string() == "brokerUnreachable")
    let elsewhere = ["AUTHBROKER_SOCKET": "/proc/nonexistent/s"]
    let named = try CommandRun(["token", "--json"], in: scratch, environment: elsewhere)
    #expect(try Self.error(named).required("message").string().contains("/proc/nonexistent/s"))
  }

  @Test func `behind two dashes --json is no option`() throws {
    let run = try CommandRun(["status", "--nonsense", "--", "--json"], in: scratch)
    #expect(run.code == 2 && run.output.isEmpty)
  }

  @Test func `a relative variable is refused, and a relative option says what it means`() throws {
    let variable = try CommandRun(["status", "--no-start"], in: scratch, environment: ["AUTHBROKER_CONFIG": "c.json"])
    #expect(variable.code == 1 && variable.errors.contains("AUTHBROKER_CONFIG must be an absolute path"))
    let option = try CommandRun(["--state", "no-such-directory-here", "status", "--no-start"], in: scratch)
    #expect(option.errors.contains("--state no-such-directory-here means /"), "\(option.errors)")
    #expect(option.errors.contains("which does not exist yet"))
    let start = try CommandRun(["--state", "no-such-directory-here", "status"], in: scratch)
    #expect(start.code == 2 && start.errors.contains("which does not exist yet; create it first"), "\(start.errors)")
    #expect(start.errors.contains("no broker is started"))
    #expect((try? FileStatus.following("no-such-directory-here")) == nil)
  }
}
