import BrokerProtocol
import JSON
import LinuxSystem
import TestSupport
import Testing

@testable import AuthBrokerClient

@Suite(.standardTimeLimit) struct BrokerEventsTests {
  private static let state = #"{"subscriptionId":"s1","sequence":7,"sessions":[\#(ScriptedBroker.session)]}"#

  @Test func `events that stand right behind the answer are not lost, and end with the connection`() async throws {
    let client = try ScriptedBroker.client { wire in
      let id = ScriptedBroker.id(wire.read())
      wire.write(
        #"{"jsonrpc":"2.0","id":\#(id),"result":\#(Self.state)}"# + "\n" + ScriptedBroker.event(8)
          + ScriptedBroker.event(9, "somethingNew", "{}")
          + ScriptedBroker.event(10, "sessionExpired", #"{"reason":"refreshTokenExpired"}"#))
    }
    let events = try await client.events()
    #expect(events.snapshot.sequence == 7)
    #expect(events.snapshot.sessions.map(\.state) == [.authenticated])
    var seen: [UInt64] = []
    for await event in events { seen.append(event.sequence) }
    #expect(seen == [8, 10])
  }

  @Test func `events of another subscription are not mixed in`() async throws {
    let client = try ScriptedBroker.client { wire in
      for name in ["s1", "s2"] {
        wire.answer(wire.read(), #"{"subscriptionId":"\#(name)","sequence":0,"sessions":[]}"#)
      }
      wire.write(ScriptedBroker.event(1))
    }
    let first = try await client.events()
    let second = try await client.events(.init(events: ["login"]))
    var seen = 0
    for await _ in first { seen += 1 }
    for await _ in second { seen += 100 }
    #expect(seen == 1)
  }

  @Test func `who leaves the loop is unsubscribed`() async throws {
    let (requests, tell) = AsyncStream<String>.makeStream()
    let client = try ScriptedBroker.client { wire in
      wire.answer(wire.read(), Self.state)
      wire.write(ScriptedBroker.event(8))
      let request = wire.read()
      tell.yield(ScriptedBroker.method(request) + " " + ((try? request?["params"]?["subscriptionId"]?.string()) ?? ""))
      wire.answer(request, "{}")
    }
    do {
      let events = try await client.events()
      for await _ in events { break }
    }
    for await request in requests {
      #expect(request == "unsubscribe s1")
      break
    }
  }

  @Test func `a stream keeps its client alive`() async throws {
    let events = try await ScriptedBroker.client { wire in
      wire.answer(wire.read(), Self.state)
      for sequence in 8..<1000 { wire.write(ScriptedBroker.event(sequence)) }
    }.events()
    var count = 0
    for await _ in events { count += 1 }
    #expect(count == 992)
  }

  @Test func `a reader that falls behind is told what it has lost`() async throws {
    let (queue, stream) = EventQueue.make()
    let event = { (sequence: UInt64) in
      BrokerEvent(sequence: sequence, profile: nil, time: Timestamp(milliseconds: 0), payload: .configReloaded)
    }
    let limit = UInt64(EventQueue.limit)
    for sequence in 1...limit + 3 { queue.put(event(sequence)) }
    var iterator = stream.makeAsyncIterator()
    #expect(await iterator.next()?.sequence == 1)
    #expect(await iterator.next()?.sequence == 2)
    queue.put(event(limit + 4))
    queue.finish()
    var rest: [BrokerEvent] = []
    while let event = await iterator.next() { rest.append(event) }
    #expect(rest.count == EventQueue.limit)
    #expect(rest[rest.count - 2].payload == .eventsLost(.init(from: Int(limit) + 1, to: Int(limit) + 3)))
    #expect(rest.last?.sequence == limit + 4)
  }
}
