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
      let request = wire.read()
      wire.write(#"{"jsonrpc":"2.0","method":"$/progress","params":{}}"# + "\n" + ScriptedBroker.event(3))
      wire.write(#"{"jsonrpc":"2.0","id":99,"result":{}}"# + "\n")
      wire.answer(request, ScriptedBroker.token("t"))
      wire.write(ScriptedBroker.event(4))
    }
    let token = try connection.call(GetAccessToken.self, .init())
    #expect(token.tokenID == "id-t")
    #expect(try connection.nextEvent().sequence == 3)
    #expect(try connection.nextEvent().sequence == 4)
    #expect(throws: ClientError.connectionLost) { try connection.nextEvent() }
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
