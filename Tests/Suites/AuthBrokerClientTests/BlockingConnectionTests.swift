import BrokerProtocol
import JSON
import LinuxSystem
import SecretMemory
import TestSupport
import Testing

@testable import AuthBrokerClient

@Suite(.standardTimeLimit) struct BlockingConnectionTests {
  @Test func `a call is answered, whatever else comes first`() throws {
    var connection = try ScriptedBroker.connection { wire in
      wire.answer(wire.read(), Self.state)
      let request = wire.read()
      wire.write(#"{"jsonrpc":"2.0","method":"$/progress","params":{}}"# + "\n" + ScriptedBroker.event(3))
      wire.write(#"{"jsonrpc":"2.0","id":99,"result":{}}"# + "\n")
      wire.answer(request, ScriptedBroker.token("t"))
      wire.write(ScriptedBroker.event(4))
    }
    _ = try connection.call(Subscribe.self, .init())
    let token = try connection.call(GetAccessToken.self, .init())
    #expect(token.tokenID == "id-t")
    #expect(try connection.nextEvent().sequence == 3)
    #expect(try connection.nextEvent().sequence == 4)
    #expect(throws: ClientError.connectionLost) { try connection.nextEvent() }
  }

  private static let state = #"{"subscriptionId":"s1","sequence":7,"sessions":[]}"#

  @Test func `events without a subscription are not kept`() throws {
    var connection = try ScriptedBroker.connection { wire in
      let request = wire.read()
      wire.write(ScriptedBroker.event(3))
      wire.answer(request, ScriptedBroker.token("t"))
    }
    _ = try connection.call(GetAccessToken.self, .init())
    #expect(throws: ClientError.connectionLost) { try connection.nextEvent() }
  }

  @Test func `events do not keep a call beyond its time limit`() throws {
    var connection = try ScriptedBroker.connection { wire in
      _ = wire.read()
      // Until the client has gone.
      let events = Array(String(repeating: ScriptedBroker.event(3), count: 1000).utf8)
      while (try? wire.socket.sendAll(events.span)) != nil {}
    }
    #expect(throws: ClientError.timedOut) { try connection.call(Ping.self, .init(), timeout: .milliseconds(300)) }
  }

  @Test func `a subscription whose reader asks something else is bounded, and told what it has lost`() throws {
    let last = EarlyEvents.countLimit + 3
    var connection = try ScriptedBroker.connection { wire in
      wire.answer(wire.read(), Self.state)
      let request = wire.read()
      for sequence in 1...last { wire.write(ScriptedBroker.event(sequence)) }
      wire.answer(request, "{}")
      wire.write(ScriptedBroker.event(last + 1))
    }
    _ = try connection.call(Subscribe.self, .init())
    _ = try connection.call(Ping.self, .init())
    for sequence in 1...EarlyEvents.countLimit { #expect(try connection.nextEvent().sequence == UInt64(sequence)) }
    let notice = try connection.nextEvent()
    #expect(notice.payload == .eventsLost(.init(from: EarlyEvents.countLimit + 1, to: last)))
    #expect(try connection.nextEvent().sequence == UInt64(last) + 1)
  }

  @Test func `few long events are bounded as well`() throws {
    var events = EarlyEvents()
    let text = #"{"sequence":5,"time":"2026-01-01T00:00:00Z"}"#
    let params = try JSONDocument(parsing: Array(text.utf8)).root
    let long = [UInt8](repeating: 0x20, count: EarlyEvents.byteLimit / 2)
    for _ in 0..<3 { events.put(long, "s1", params) }
    var count = 0
    while let message = events.next() {
      count += 1
      #expect(message.count == long.count || String(decoding: message, as: UTF8.self).contains(#""from":5,"to":5"#))
    }
    #expect(count == 3)
  }

  @Test(arguments: [
    ("ping", "{}", 60), ("rekey", "{}", 660), ("awaitLogin", "{}", 3600),
    ("getAccessToken", #"{"timeoutSeconds":600}"#, 605), ("getAccessToken", #"{"timeoutSeconds":1}"#, 60),
  ])
  func `every call has a time limit`(_ method: String, _ params: String, _ seconds: Int64) {
    #expect(AnswerLimit.usual(for: method, RawJSON(text: Array(params.utf8))) == .seconds(seconds))
  }

  @Test func `there is one error for a time limit, whoever has set it`() throws {
    var connection = try ScriptedBroker.connection { wire in
      wire.refuse(wire.read(), 1087, #"{"kind":"deadlineExceeded"}"#)
      while wire.read() != nil {}
    }
    #expect(throws: ClientError.timedOut) { try connection.call(GetAccessToken.self, .init()) }
    #expect(throws: ClientError.timedOut) { try connection.call(Ping.self, .init(), timeout: .zero) }
  }

  @Test func `the text of a result is what the broker wrote`() throws {
    var connection = try ScriptedBroker.connection { wire in wire.answer(wire.read(), #"{"new": [1, 2.50]}"#) }
    let text = try connection.callForText("getStatus", Empty())
    #expect(String(decoding: text, as: UTF8.self) == #"{"new": [1, 2.50]}"#)
  }

  @Test func `secrets stand in the request as JSON strings`() throws {
    let password = "p\"w\\ \u{1}ä€😀\t"
    var connection = try ScriptedBroker.connection { wire in
      let request = wire.read()
      let text = (try? request?["params"]?["password"]?.string()) ?? ""
      wire.refuse(request, text == password ? 1020 : 1, #"{"kind":"invalidCredentials"}"#)
    }
    let error = #expect(throws: ClientError.self) {
      try connection.call(Login.self, .init(email: "ann@example.com", password: try Secret(utf8: password)))
    }
    #expect(error == .broker(BrokerError(.invalidCredentials, "No.")))
  }

  @Test func `no answer within the limit is told apart from a lost connection`() throws {
    var connection = try ScriptedBroker.connection { wire in while wire.read() != nil {} }
    #expect(throws: ClientError.timedOut) { try connection.call(Ping.self, .init(), timeout: .zero) }
    var closed = try ScriptedBroker.connection { wire in _ = wire.read() }
    #expect(throws: ClientError.connectionLost) { try closed.call(Ping.self, .init()) }
    #expect(throws: ClientError.connectionLost) { try closed.call(Ping.self, .init()) }
  }

  @Test func `waiting that was interrupted can be taken up again after the request was cancelled`() throws {
    var connection = try ScriptedBroker.connection { wire in
      let request = wire.read()
      let notice = wire.read()
      let isTakenBack = (try? notice?["params"]?["id"]?.integer()) == (try? request?["id"]?.integer())
      wire.refuse(request, isTakenBack ? -32800 : 1, #"{"kind":"cancelled"}"#)
    }
    let bell = try EventCounter()
    let id = try connection.begin(Ping.self, .init())
    bell.raise()
    #expect(throws: ClientError.cancelled) {
      try connection.answer(to: id, as: Ping.self, timeout: Patience.ceiling, unless: bell.descriptor)
    }
    try connection.cancel(id)
    let silent = try EventCounter()
    #expect(throws: ClientError.broker(BrokerError(.cancelled, "No."))) {
      try connection.answer(to: id, as: Ping.self, timeout: Patience.ceiling, unless: silent.descriptor)
    }
  }

  @Test func `an error that answers no request ends the call`() throws {
    var connection = try ScriptedBroker.connection { wire in
      _ = wire.read()
      wire.write(#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"No.","data":{"kind":"parseError"}}}"#)
      wire.write("\n")
      _ = wire.read()
    }
    #expect(throws: ClientError.broker(BrokerError(.parseError, "No."))) { try connection.call(Ping.self, .init()) }
  }
}
