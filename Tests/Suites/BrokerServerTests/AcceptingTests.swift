import LinuxSystem
import TestSupport
import Testing
import Transport

@testable import BrokerServer

/// Lets the server drain when its descriptor can be read.
private final class Drainer: EventHandler {
  private let server: BrokerServer

  init(_ server: BrokerServer) { self.server = server }

  func ready(_ events: ReadyEvents) { server.assumeIsolated { $0.drain() } }
}

@Suite(.standardTimeLimit) struct AcceptingTests {
  @Test func `a client that is accepted in the turn in which the server begins to drain is let go`() async throws {
    try await OwnThread.run {
      let scratch = Scratch()
      let path = scratch.path + "/run/s"
      let harness = try ServerHarness()
      try harness.server.listen(try UnixSocket.listen(at: path, holding: try FileLock(scratch.path + "/lock")))
      let pair = try UnixSocket.pair(nonBlocking: true)
      try pair.ends { bell, hand in
        let registration = try harness.loop.register(bell, .readable, Drainer(harness.server))
        let client = try UnixSocket.connect(to: path)
        #expect(hand.send([1], 0..<1) == .bytes(1))
        try harness.loop.runOnce()
        harness.loop.deregister(registration)
        var buffer: [UInt8] = [0]
        #expect(client.receive(into: &buffer) == .endOfStream)
        #expect(harness.server.assumeIsolated { $0.connectionCount } == 0)
        #expect(harness.stopFlag.isRaised)
      }
    }
  }
}
