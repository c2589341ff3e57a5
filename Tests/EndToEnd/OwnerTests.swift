import BrokerProtocol
import ClientSocket
import JSON
import LinuxSystem
import TestSupport
import Testing

/// A state directory has exactly one owner, which comes and goes in order.
@Suite(.standardTimeLimit) struct OwnerTests {
  @Test func `a second owner exits with 1 and names the process and the socket of the first`() async throws {
    try await Sandbox.run { sandbox in
      let first = try sandbox.owner()
      for arguments in [[], ["--stdio"], ["--socket", sandbox.root + "/other.sock"]] {
        let second = try sandbox.refusedDaemon(arguments)
        #expect(second.code == 1)
        #expect(second.output.isEmpty)
        #expect(second.errors.contains("(pid \(first.pid), socket \(sandbox.socket))"), "\(second.errors)")
      }
      #expect(try SocketWire(sandbox.socket).call("ping").members().isEmpty)
    }
  }

  @Test func `a killed broker still has the session when it is started again`() async throws {
    try await Sandbox.run { sandbox in
      let first = try sandbox.owner()
      let before = try SocketWire(sandbox.socket)
      try before.register()
      let token = try before.accessToken()
      first.kill()
      #expect(try before.next() == nil)
      _ = try sandbox.owner()
      let after = try SocketWire(sandbox.socket)
      #expect(try after.accessToken() == token)
      #expect(try after.call("getStatus")["counters"]?["logins"]?.integer() == 0)
      // The refresh token is there too, and has not been spent.
      #expect(try after.call("getAccessToken", #"{"forceRefresh":true}"#)["accessToken"]?.string() != token)
    }
  }

  @Test(arguments: [Signal.terminate, .interrupt])
  func `a signal to stop lets a request in flight be answered`(_ signal: Signal) async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner()
      let wire = try SocketWire(sandbox.socket)
      // Deriving the key of a password takes longer than a ping, whose answer says that both requests were taken.
      try Self.sendSlowRequestAndPing(wire)
      try owner.send(signal)
      let answer = try Self.answerBehindEvents(wire)
      #expect(try answer["result"]?["status"]?.string() == "authenticated")
      #expect(try wire.readToEnd().isEmpty)
      #expect(try owner.wait() == 0)
      #expect(OwnerRecord(at: sandbox.state + "/broker.lock") == nil)
      #expect(Directory.names(in: sandbox.state + "/run").isEmpty)
      // What was answered is durable.
      _ = try sandbox.owner()
      #expect(try SocketWire(sandbox.socket).call("getSession")["state"]?.string() == "authenticated")
    }
  }

  @Test func `the end of the input lets a request in flight be answered`() async throws {
    try await Sandbox.run { sandbox in
      let broker = try sandbox.privateOwner()
      let wire = ProgramWire(broker)
      try Self.sendSlowRequestAndPing(wire)
      wire.finishSending()
      #expect(try wire.nextNode()["result"]?["status"]?.string() == "authenticated")
      #expect(try wire.readToEnd().isEmpty)
      #expect(try broker.wait() == 0)
    }
  }

  @Test func `an input that is empty from the beginning ends the broker at once`() async throws {
    try await Sandbox.run { sandbox in
      let broker = try sandbox.privateOwner(input: .nothing)
      #expect(try broker.output.readToEnd().isEmpty)
      #expect(try broker.wait() == 0)
    }
  }

  @Test func `a broker whose output nobody reads any more ends`() async throws {
    try await Sandbox.run { sandbox in
      let broker = try sandbox.privateOwner()
      do {
        let wire = ProgramWire(broker)
        #expect(try wire.call("ping").members().isEmpty)
      }
      try broker.closeOutput()
      #expect(try broker.wait() == 0)
    }
  }

  @Test func `stopBroker answers, tells subscribers and ends the owner`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner()
      let (subscriber, client) = (try SocketWire(sandbox.socket), try SocketWire(sandbox.socket))
      _ = try subscriber.call("subscribe")
      #expect(try client.call("stopBroker").members().isEmpty)
      #expect(try client.readToEnd().isEmpty)
      let last = try subscriber.readToEnd()
      #expect(last.count == 1 && last[0].contains(#""event":"shuttingDown""#), "\(last)")
      #expect(try owner.wait() == 0)
    }
  }

  @Test func `shutdown ends the broker on standard input and output, and only the connection of a shared one`()
    async throws
  {
    try await Sandbox.run { sandbox in
      let broker = try sandbox.privateOwner()
      let wire = ProgramWire(broker)
      #expect(try wire.call("shutdown").members().isEmpty)
      #expect(try wire.next() == nil)
      #expect(try broker.wait() == 0)
      _ = try sandbox.owner()
      let (one, other) = (try SocketWire(sandbox.socket), try SocketWire(sandbox.socket))
      #expect(try one.call("shutdown").members().isEmpty)
      #expect(try one.next() == nil)
      #expect(try other.call("ping").members().isEmpty)
    }
  }

  @Test func `an owner that was started on demand ends some time after its last use`() async throws {
    try await Sandbox.run { sandbox in
      let options = try sandbox.configure(#"{"lingerSeconds": 0.2}"#)
      let owner = try sandbox.owner(options + ["--on-demand"])
      let wire = try SocketWire(sandbox.socket)
      #expect(try wire.call("ping").members().isEmpty)
      try wire.finishSending()
      #expect(try wire.next() == nil)
      #expect(try owner.wait() == 0)
    }
  }

  @Test func `an owner that nobody ever uses ends as well`() async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner(try sandbox.configure(#"{"lingerSeconds": 0.1}"#) + ["--on-demand"])
      #expect(try owner.wait() == 0)
    }
  }

  @Test func `an owner that a client started ends some time after the client`() async throws {
    try await Sandbox.run { sandbox in
      let options = ["--state", sandbox.state] + (try sandbox.configure(#"{"lingerSeconds": 0.2}"#))
      let status = try sandbox.run(BuiltPrograms.command, options + ["call", "getStatus"])
      let pid = try JSONDocument(parsing: Array(status.output.utf8)).root.required("pid").integer()
      // In a session of its own, in no directory that somebody may want to unmount, and nobody's child to stop.
      let words = String(decoding: try Directory.bytes(of: "/proc/\(pid)/stat"), as: UTF8.self).split(separator: " ")
      #expect(words.count > 5 && words[5] == "\(pid)")
      try sandbox.awaitNoOwner(of: sandbox.state)
      #expect(Directory.names(in: sandbox.state + "/run").isEmpty)
    }
  }

  @Test func `a subscriber that ends its input is let go`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      let wire = try SocketWire(sandbox.socket)
      _ = try wire.call("subscribe")
      try wire.finishSending()
      #expect(try wire.next() == nil)
    }
  }

  private static func sendSlowRequestAndPing(_ wire: any Wire) throws {
    let register = #"{"jsonrpc":"2.0","id":"slow","method":"register","params":{"email":"a@example.com","#
    try wire.send(Array((register + #""password":"example password 1"}}"#).utf8))
    #expect(try wire.ask(#"{"jsonrpc":"2.0","id":"fast","method":"ping"}"#)["id"]?.string() == "fast")
  }

  private static func answerBehindEvents(_ wire: any Wire) throws -> JSONNode {
    while true {
      let node = try wire.nextNode()
      if node["id"] != nil { return node }
    }
  }
}
