import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

/// Runs of other tools, which may read nothing, never end, or print without end.
@Suite(.standardTimeLimit) struct ToolRunTests {
  // More than any pipe holds.
  private static let input = [UInt8](repeating: UInt8(ascii: "x"), count: 2_000_003)

  private func run(_ script: String, limit: Duration = Patience.ceiling, longest: Int = 64) throws -> ToolRun {
    try ToolRun(
      "/bin/sh", ["-c", script], secret: Self.input.span, environment: ["PATH": "/usr/bin:/bin"], limit: limit,
      longest: longest)
  }

  @Test func `a tool reads all that it is told, at once or late`() throws {
    for script in ["wc -c", "exec 3<&0; sleep 0; wc -c <&3"] {
      let run = try run(script)
      #expect(run.code == 0 && run.output == Array("2000003\n".utf8))
    }
  }

  @Test func `a tool that reads nothing has its own exit code`() throws {
    let run = try run("exec <&-; echo done; exit 7")
    #expect(run.code == 7 && run.output == Array("done\n".utf8))
  }

  @Test func `a tool that does not end is ended, though it reads nothing`() throws {
    let run = try run("sleep 3600 & sleep 3600", limit: .milliseconds(50))
    #expect(run.code == 137 && run.output.isEmpty)
  }

  @Test func `a tool that prints too much is ended`() throws {
    let run = try run("yes", longest: 10_000)
    #expect([137, 141].contains(run.code) && run.output.count >= 10_000)
  }

  @Test func `a tool whose run is given up is ended and waited for`() throws {
    let process = try #require(try startedProcess())
    #expect(throws: Errno.self) { _ = try FileStatus.ofLink("/proc/\(process)") }
  }

  /// Starts a tool, lets it go, and says which process it was.
  private func startedProcess() throws -> Int32? {
    var plan = ChildProcess.Plan(
      path: "/bin/sh", arguments: ["-c", "echo $$; sleep 3600"], environment: ["PATH": "/usr/bin:/bin"])
    plan.workingDirectory = "/"
    let process = try ToolProcess(plan, input: [UInt8]().span)
    var poll = PollSet(count: 1)
    poll.watch(0, process.output.number, readable: true)
    #expect(try poll.wait(atMost: Patience.ceiling) == 1)
    var said = [UInt8](repeating: 0, count: 32)
    guard case .bytes(let count) = process.output.read(into: &said) else { return nil }
    let number = Int32(String(decoding: said[..<count], as: UTF8.self).split(separator: "\n").first ?? "")
    #expect(try FileStatus.ofLink("/proc/\(try #require(number))").kind == .directory)
    return number
  }
}
