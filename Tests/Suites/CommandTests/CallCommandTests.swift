import BrokerProtocol
import BrokerServer
import Synchronization
import TestSupport
import Testing

@testable import authbroker

/// What `authbroker call` takes from its arguments.
@Suite(.standardTimeLimit) struct CallCommandTests {
  @Test func `every parameter that is a secret is refused as an argument`() {
    let secrets = Set(Methods.all.flatMap { $0.secretParameterNames })
    #expect(CallCommand.secrets == secrets)
  }

  @Test(arguments: [["call", "getStatus"], ["status", "--json"], ["token", "--id"], ["sessions", "--json"]])
  func `a broker that has begun to end is followed by the next`(line: [String]) throws {
    let scratch = Scratch()
    let isFirst = Mutex(true)
    let next = try FakeOwner.record(in: scratch, startedAt: "2026-01-01T00:01:00Z")
    let owner = try FakeOwner(in: scratch) { method, _ in
      let isEnding = isFirst.withLock { first in
        defer { first = false }
        return first
      }
      if isEnding {
        // The next one holds the lock by now: its record is there.
        try? scratch.write(next, to: "state/broker.lock")
        return FakeOwner.refusal(1084, "shuttingDown", "The broker ends.")
      }
      return method == "getStatus"
        ? FakeOwner.status() : #""result":{"sessions":[],"idToken":"example-token","expiresAt":null}"#
    }
    let run = try CommandRun(line, in: scratch)
    #expect(run.code == 0, "\(run.errors)")
    #expect(owner.requests.count == 2)
  }
}
