import AuthBrokerClient
import BrokerProtocol
import JSON
import LinuxSystem
import TestSupport
import Testing

/// A program that uses the Swift library, and brokers that end.
@Suite(.standardTimeLimit) struct LibraryReconnectionTests {
  private static func client(_ sandbox: Sandbox) throws -> BrokerClient {
    let location = BrokerLocation(state: sandbox.state, startsBroker: false)
    return try TaskResult.waiting { try await BrokerClient.connect(to: location) }
  }

  /// Reads events until one has the name.
  private static func next(_ name: EventName, of events: BrokerEvents) throws -> BrokerEvent {
    try TaskResult.waiting {
      for await event in events where event.payload.name == name { return event }
      throw TestFailure("the events have ended")
    }
  }

  @Test(arguments: [true, false])
  func `calls and events go on at the next broker, whether the last one was killed or stopped`(
    _ isKilled: Bool
  ) async throws {
    try await Sandbox.run { sandbox in
      let first = try sandbox.owner()
      try SocketWire(sandbox.socket).register()
      let client = try Self.client(sandbox)
      let token = try TaskResult.waiting { try await client.accessToken() }
      let events = try TaskResult.waiting { try await client.events(.init(events: ["tokenRefreshed"])) }
      if isKilled { sandbox.bury(first) } else { #expect(try sandbox.command("stop").code == 0) }
      #expect(throws: ClientError.self) { try TaskResult.waiting { try await client.status() } }
      _ = try sandbox.owner()
      let again = try TaskResult.waiting { try await client.accessToken() }
      #expect(again.tokenID == token.tokenID)
      let fresh = try SocketWire(sandbox.socket).call("getAccessToken", #"{"forceRefresh":true}"#)
      let event = try Self.next(.tokenRefreshed, of: events)
      guard case .tokenRefreshed(let refreshed) = event.payload else { return }
      #expect(try refreshed.tokenID == fresh.required("tokenId").string())
      #expect(Directory.names(in: sandbox.state).filter { $0.hasPrefix("proof-") }.isEmpty)
      // A proof counts for its connection: the next one gives its own.
      #expect(try TaskResult.waiting { try await client.checkVault().isOK })
      try TaskResult.waiting { await client.close() }
    }
  }

  @Test func `what happens while no broker answers is told afterwards, in order`() async throws {
    try await Sandbox.run { sandbox in
      let first = try sandbox.owner()
      let wire = try SocketWire(sandbox.socket)
      try wire.register()
      let client = try Self.client(sandbox)
      let events = try TaskResult.waiting { try await client.events(.init(events: ["tokenRefreshed", "logout"])) }
      sandbox.bury(first)
      _ = try sandbox.owner()
      let other = try SocketWire(sandbox.socket)
      _ = try other.call("getAccessToken", #"{"forceRefresh":true}"#)
      _ = try other.call("logout")
      let refreshed = try Self.next(.tokenRefreshed, of: events)
      let loggedOut = try Self.next(.logout, of: events)
      #expect(refreshed.sequence < loggedOut.sequence)
      try TaskResult.waiting { await client.close() }
    }
  }
}
