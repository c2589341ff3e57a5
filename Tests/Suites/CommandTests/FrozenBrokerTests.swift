import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

/// A broker that is there and says nothing.
@Suite(.standardTimeLimit) struct FrozenBrokerTests {
  private let scratch = Scratch()

  /// An owner that answers nothing before it is let.
  private func owner(_ end: Semaphore) throws -> FakeOwner {
    try FakeOwner(in: scratch, acceptsProofs: false) { _, _ in
      end.wait()
      end.signal()
      return #""result":{}"#
    }
  }

  @Test(arguments: [
    ["helper", "curl", "https://a.example"], ["token"], ["header", "--url", "https://a.example"], ["status"],
    ["login", "--method", "browser"],
  ])
  func `every command gives up after a ping without an answer, and names the process`(_ words: [String]) throws {
    let end = Semaphore()
    let owner = try owner(end)
    let words = words.map { $0 == "/tmp/none/token" ? scratch.file("token") : $0 }
    let started = BootClock.now
    let run = try CommandRun(words + ["--json"].filter { _ in words[0] == "status" }, in: scratch)
    let time = BootClock.now - started
    end.signal()
    let sentence =
      "authbroker: the broker (pid \(ProcessIdentity.pid)) does not answer; end it with: "
      + "authbroker --state \(scratch.file("state")) stop\n"
    #expect(run.code == 8 && run.errors == sentence, "\(run.errors)")
    #expect(time >= .seconds(5) && time < .seconds(50))
    #expect(owner.guests == 1)
    #expect(words[0] != "status" || run.output.contains(#""kind":"brokerUnreachable""#))
  }

  @Test(arguments: ["authbroker_token", "authbroker_token --url https://a.example", "authbroker_watch"])
  func `the shell client gives up as well`(_ line: String) throws {
    let end = Semaphore()
    let owner = try owner(end)
    let settings = "AUTHBROKER_COMMAND='\(CommandRun.program)' AUTHBROKER_STATE='\(scratch.file("state"))'"
    let run = try ShellClientTests.run(
      "/bin/dash", "\(settings); export AUTHBROKER_COMMAND AUTHBROKER_STATE; \(line) 2>&1; echo $?", "")
    end.signal()
    #expect(run.output.hasPrefix("authbroker.sh: the broker (pid \(ProcessIdentity.pid)) does not answer"), "\(run)")
    #expect(run.output.hasSuffix("\n8\n"), "\(run)")
    #expect(owner.guests == 1)
  }
}
