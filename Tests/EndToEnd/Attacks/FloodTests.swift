import LinuxSystem
import TestSupport
import Testing

extension AttackTests {
  /// Ten kinds of legal messages that cost much to read, to answer or to keep.
  @Suite(.standardTimeLimit, .serialized, .enabled(if: Processor.areTwo, "an attack is measured on two processors"))
  struct FloodTests {
    /// As long as a message may be, but for its frame.
    private static let size = (1 << 20) - 200

    /// A `ping` whose parameters are as many `piece`s as fit.
    private static func filled(
      _ name: String, _ piece: (Int) -> String, open: String = "{", close: String = "}"
    ) -> Flood {
      var params = open
      var index = 0
      while params.utf8.count < size {
        if index > 0 { params += "," }
        params += piece(index)
        index += 1
      }
      return Flood(name, #""method":"ping","params":"# + params + close)
    }

    /// Parameters of names that no message had before.
    ///
    /// The names are patched into a message that is made once: a client that is busy with its own messages keeps the
    /// others from a processor.
    private static let ignoredNames: Flood = {
      let (digits, count) = (16, 64)
      let name = String(repeating: "n", count: 1000)
      var message = Array(#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"#.utf8)
      let places = (0..<count).map { index in
        if index > 0 { message.append(UInt8(ascii: ",")) }
        message += Array("\"\(name)".utf8)
        defer { message += Array("\(String(repeating: "0", count: digits))\":0".utf8) }
        return message.count
      }
      message += Array("}}\n".utf8)
      return Flood("ignored names") { [message] number in
        var message = message
        for (index, place) in places.enumerated() {
          var rest = number &* count &+ index
          for digit in 0..<digits {
            message[place + digit] = UInt8(ascii: "a") + UInt8(truncatingIfNeeded: rest & 15)
            rest >>= 4
          }
        }
        return message
      }
    }()

    private static let floods: [Flood] = {
      let mark = String(repeating: "e\u{301}\u{302}\u{303}", count: size / 8)
      var floods = [
        filled("members", { "\"m\($0)\":0" }),
        filled("numbers", { _ in "-1.7976931348623157e308" }, open: #"{"n":["#, close: "]}"),
        filled("strings", { _ in #""\u00e9\ud83d\ude00""# }, open: #"{"s":["#, close: "]}"),
        Flood("combining marks", #""method":"login","params":{"email":"\#(mark)","password":"p"}"#),
      ]
      let scopes = (0..<(size / 12)).map { "\"scope\($0)\"" }.joined(separator: ",")
      floods.append(Flood("scopes", #""method":"getAccessToken","params":{"scopes":[\#(scopes)]}"#))
      let entries = Array(repeating: #"{"jsonrpc":"2.0","id":1,"method":"getStatus"}"#, count: 64)
      floods.append(Flood("batches") { _ in Array("[\(entries.joined(separator: ","))]\n".utf8) })
      let long = String(repeating: "x", count: size / 64 - 100)
      let longEntries = Array(
        repeating: #"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\#(long)"}}"#, count: 64)
      let longBatch = Array("[\(longEntries.joined(separator: ","))]\n".utf8)
      floods.append(Flood("long batches") { _ in longBatch })
      floods.append(ignoredNames)
      floods.append(Flood("rpc.discover", #""method":"rpc.discover""#))
      let subscribe = #"{"jsonrpc":"2.0","id":1,"method":"subscribe"}"# + "\n"
      let thirtyTwo = Array(String(repeating: subscribe, count: 32).utf8)
      var subscriptions = Flood("subscriptions") { _ in thirtyTwo }
      subscriptions.reconnects = true
      floods.append(subscriptions)
      var connects = Flood("connections", #""method":"ping""#)
      connects.reconnects = true
      connects.reads = false
      floods.append(connects)
      var unread = Flood("unread answers", #""method":"rpc.discover""#)
      unread.reads = false
      unread.connections = 200
      floods.append(unread)
      return floods
    }()

    @Test func `a flood of legal messages costs others little time and the daemon little memory`() async throws {
      try await Sandbox.run { sandbox in
        let stage = try AttackStage(sandbox)
        var outcomes: [AttackStage.Outcome] = []
        for flood in Self.floods { outcomes.append(try stage.endure(flood)) }
        stage.expectGood(outcomes)
        try stage.expectNothingLost()
      }
    }

    @Test func `1,500 messages that never end hold little memory`() async throws {
      try await Sandbox.run { sandbox in
        let stage = try AttackStage(sandbox)
        let begun = #"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":""#
        let half = Array((begun + String(repeating: "x", count: Self.size)).utf8)
        var flood = Flood("half messages") { number in number & 0xFFFF_FFFF == 0 ? half : [] }
        flood.connections = 1500
        stage.expectGood([try stage.endure(flood)])
        try stage.expectNothingLost()
      }
    }
  }
}
