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

  /// The commands that print results, but for those that only list others.
  private static var commands: [String] {
    CommandList.withMembers.filter { $0.group == nil && !$0.speaksProtocol }.map(\.name)
  }

  @Test func `every command has its line in the table`() {
    #expect(Set(Self.commands) == Set(CommandTable.failing.keys))
  }

  @Test(arguments: commands)
  func `a failure of every command is one error object, and the same sentence for people`(_ command: String) throws {
    let words = command.split(separator: " ").map(String.init)
    // Behind the name of a program, its own options begin.
    let run = try CommandRun(
      ["--json"] + words + (CommandTable.failing[command] ?? []), in: scratch,
      environment: ["AUTHBROKER_SOCKET": "/proc/none/s"])
    #expect(run.code != 0)
    let error = try Self.error(run)
    #expect(try error.required("code").integer() != 0)
    #expect(try !error.required("data").required("kind").string().isEmpty)
    #expect(try !error.required("data").required("nextAction").string().isEmpty)
    #expect(run.errors.contains("authbroker: "), "\(run.errors)")
    #expect(try !error.required("message").string().isEmpty)
  }

  @Test func `a failure without a code of its own has its kind by the exit code`() throws {
    let missing = try Self.error(try CommandRun(["--json", "exec", "/no/such/program"], in: scratch))
    #expect(try missing.required("code").integer() == 127)
    #expect(try missing.required("data").required("kind").string() == "programNotFound")
    let foreign = try Self.error(try CommandRun(["--json", "file", "/proc/version"], in: scratch))
    #expect(try foreign.required("data").required("kind").string() == "failure")
  }

  @Test func `an end of the wait for events is the last line`() throws {
    let owner = try FakeOwner(in: scratch) { _, _ in
      #""result":{"subscriptionId":"s","sequence":7,"sessions":[]}"#
    }
    let run = try CommandRun(["watch", "--json", "--timeout", "0.01"], in: scratch)
    #expect(run.code == 5 && run.errors == "authbroker: no event within 0.01 s (--timeout)\n", "\(run.errors)")
    #expect(try Self.error(run).required("data").required("kind").string() == "deadlineExceeded")
    #expect(owner.requests.count == 1)
  }

  @Test(
    arguments: CommandList.withMembers.filter { $0.speaksProtocol }.map(\.name) + ["serve --stdio", "helper git -x"])
  func `the protocol of another program has no error object in it`(_ command: String) throws {
    let words = command.split(separator: " ").map(String.init)
    for options in [[], ["--nonsense"]] {
      let run = try CommandRun(
        ["--json"] + words + options, in: scratch, environment: ["AUTHBROKER_SOCKET": "/proc/none/s"])
      #expect(!run.output.contains("nextAction"), "\(run.output)")
    }
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
