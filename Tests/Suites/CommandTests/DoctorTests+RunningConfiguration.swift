import Glibc
import TestSupport
import Testing

@testable import authbroker

/// A configuration that was changed after the broker had read it.
extension DoctorTests {
  private static func events(_ reloadedAt: String?) -> String {
    let event = reloadedAt.map {
      #"{"jsonrpc":"2.0","method":"event","params":{"subscriptionId":"s1","sequence":5,"event":"configReloaded","#
        + #""time":"\#($0)","data":{}}}"#
    }
    let answer = #""result":{"subscriptionId":"s1","sequence":9,"sessions":[]}}"#
    return String([answer, event].compactMap(\.self).joined(separator: "\n").dropLast())
  }

  private func run(reloadedAt: String?, changedAt seconds: Int) throws -> CommandRun {
    try makeState()
    try makeDaemon()
    try scratch.write("{}", to: "c.json")
    var times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
    #expect(utimensat(AT_FDCWD, scratch.file("c.json"), &times, 0) == 0)
    let owner = try FakeOwner(in: scratch, configuration: scratch.file("c.json")) { method, _ in
      switch method {
      case "getStatus": FakeOwner.status()
      case "initialize":
        #""result":{"protocolVersion":"1","server":{"name":"a","version":"1"},"capabilities":{"methods":[],"events":[],"#
          + #""framings":[],"providers":[]},"sessions":[],"sequence":9}"#
      case "subscribe": Self.events(reloadedAt)
      default: #""result":{"ok":true,"findings":[]}"#
      }
    }
    return try withExtendedLifetime(owner) { try CommandRun(["doctor", "--no-network"], in: scratch) }
  }

  /// The fake owner was started at the beginning of 2026; the file is changed some seconds later.
  private static let start = 1_767_225_600

  @Test(arguments: [nil, "2026-01-01T00:00:30Z"] as [String?])
  func `a configuration that is newer than what the broker has read is told of`(reloadedAt: String?) throws {
    let run = try run(reloadedAt: reloadedAt, changedAt: Self.start + 60)
    #expect(run.code == 0)
    let text =
      "was changed at 2026-01-01 00:01:00, after the running broker had read it; have it read again with: authbroker "
      + "--state \(scratch.file("state")) reload\n"
    #expect(run.words.contains(" warning age \(scratch.file("c.json")) \(text)"), "\(run.output)")
  }

  @Test(arguments: [(nil, -1), (nil, 0), ("2026-01-01T00:02:00Z", 60)] as [(String?, Int)])
  func `a configuration that the broker has read as it is gets no line`(reloadedAt: String?, later: Int) throws {
    let run = try run(reloadedAt: reloadedAt, changedAt: Self.start + later)
    #expect(run.code == 0 && !run.words.contains(" age "), "\(run.output)")
  }
}
