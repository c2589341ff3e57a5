import ClientSocket
import JSON
import JSONRPC
import LinuxSystem
import TestSupport
import Testing

/// Many clients on one broker, of every kind.
@Suite(.standardTimeLimit) struct ClientsTests {
  @Test func `two clients speak on one socket at the same time, one in each framing`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      let (lines, headers) = (try SocketWire(sandbox.socket, .lines), try SocketWire(sandbox.socket, .headers))
      _ = try headers.call("subscribe", #"{"events":["login","logout"]}"#)
      try lines.register()
      #expect(try headers.nextNode()["params"]?["event"]?.string() == "login")
      // Both have requests under way before either reads an answer.
      for number in 0..<50 {
        let request = Array(#"{"jsonrpc":"2.0","id":\#(number),"method":"getAccessToken"}"#.utf8)
        try lines.send(request)
        try headers.send(request)
      }
      var tokens: Set<String> = []
      for number in 0..<50 {
        for wire in [lines, headers] {
          let answer = try wire.nextNode()
          #expect(try answer["id"]?.integer() == Int64(number))
          tokens.insert(try answer.required("result").required("accessToken").string())
        }
      }
      #expect(tokens.count == 1)
      _ = try lines.call("logout")
      #expect(try headers.nextNode()["params"]?["event"]?.string() == "logout")
      #expect(try headers.refusal("getAccessToken") == "loginRequired")
    }
  }

  @Test(arguments: ["GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "\u{16}\u{3}\u{1}hello\n", "SSH-2.0-client\r\n"])
  func `a client of the wrong kind is told so, and the others are served on`(_ greeting: String) async throws {
    try await Sandbox.run { sandbox in
      let owner = try sandbox.owner()
      let client = try SocketWire(sandbox.socket)
      #expect(try client.call("ping").members().isEmpty)
      let stranger = try SocketWire(sandbox.socket)
      try stranger.sendRaw(Array(greeting.utf8))
      #expect(try stranger.nextNode()["error"]?["code"]?.integer() == -32700)
      #expect(try stranger.next() == nil)
      #expect(try client.call("ping").members().isEmpty)
      #expect(try SocketWire(sandbox.socket).call("getStatus")["pid"]?.integer() == Int64(owner.pid))
    }
  }

  @Test func `clients that vanish in the middle of everything leave the broker serving`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      try SocketWire(sandbox.socket).register()
      for number in 0..<60 {
        let client = try SocketWire(sandbox.socket, number % 2 == 0 ? .lines : .headers)
        switch number % 3 {
        case 0: try client.sendRaw(Array("{\"jsonrpc\":\"2.0\",\"id\":1,".utf8))
        case 1: _ = try client.call("subscribe")
        default: try client.send(Array(#"{"jsonrpc":"2.0","id":1,"method":"getAccessToken"}"#.utf8))
        }
      }
      let last = try SocketWire(sandbox.socket)
      #expect(try last.call("ping").members().isEmpty)
      let deadline = Patience.end
      var status = try last.call("getStatus")
      while try status["connections"]?.integer() != 1, BootClock.now < deadline { status = try last.call("getStatus") }
      #expect(try status["connections"]?.integer() == 1)
      #expect(try status["subscriptions"]?.integer() == 0)
    }
  }

  @Test func `a hundred clients that start at once with no owner get one owner`() async throws {
    try await Sandbox.run { sandbox in
      let clients = try (0..<100).map { _ in
        try sandbox.start(
          BuiltPrograms.command, ["--state", sandbox.state, "call", "getStatus"], input: .nothing)
      }
      var owners: Set<Int64> = []
      for client in clients {
        let answer = try client.output.readToEnd()
        #expect(try client.wait() == 0, "\(client.errorText)")
        owners.insert(try JSONDocument(parsing: answer).root.required("pid").integer())
      }
      #expect(owners.count == 1)
      let record = try #require(OwnerRecord(at: sandbox.state + "/broker.lock"))
      #expect(owners == [Int64(record.pid)])
      #expect(throws: FileLock.Refusal.held(sandbox.state + "/broker.lock")) {
        _ = try FileLock(sandbox.state + "/broker.lock")
      }
      // One start is in the log, not one a client.
      let log = String(decoding: try Directory.bytes(of: sandbox.state + "/broker.log"), as: UTF8.self)
      #expect(log.split(separator: "\n").filter { $0.contains("ready") }.count == 1, "\(log)")
      #expect(try sandbox.command("stop").code == 0)
      try sandbox.awaitNoOwner(of: sandbox.state)
    }
  }
}
