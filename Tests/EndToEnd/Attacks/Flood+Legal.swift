/// Messages that every limit allows, as costly to read, to answer or to keep as their kind can be.
extension Flood {
  /// All of them.
  ///
  /// A connection's buffer may take twice its message, so that thirty messages of half a megabyte at once stay below the
  /// limit of what all connections may hold; those whose answers are long, too, come over fewer connections.
  static let legal: [Flood] =
    structures + texts + batches + [ignoredNames, discovery, subscriptions, connections]

  /// A `ping` with these parameters, which the broker ignores.
  private static func ping(_ name: String, _ params: String) -> Flood {
    Flood(name, #""method":"ping","params":{"# + params + "}")
  }

  private static func list(_ count: Int, _ piece: (Int) -> String) -> String {
    (0..<count).map(piece).joined(separator: ",")
  }

  /// Nearly as many values, members, elements and levels as a message may have.
  private static let structures: [Flood] = {
    let members = list(256) { "\"m\($0)\":0" }
    let zeros = list(1024) { _ in "0" }
    let numbers = list(1000) { _ in "-1.7976931348623157e300" }
    let (open, close) = (String(repeating: "[", count: 56), String(repeating: "]", count: 56))
    return [
      ping("members", list(15) { "\"o\($0)\":{\(members)}" }),
      ping("elements", list(7) { "\"a\($0)\":[\(zeros)]" }),
      ping("numbers", list(7) { "\"a\($0)\":[\(numbers)]" }),
      ping("nested arrays", "\"a\":[\(list(140) { _ in open + close })]"),
    ]
  }()

  /// The longest strings.
  private static let texts: [Flood] = {
    let escapes = String(repeating: #"\u00e9"#, count: 10_000)
    // A single character to Swift.
    let accents = "e" + String(repeating: "\u{301}", count: 32_000)
    let plain = String(repeating: "x", count: 65_000)
    var longest = ping("the longest messages", list(15) { "\"s\($0)\":\"\(plain)\"" })
    longest.connections = 15
    return [
      ping("escapes", list(8) { "\"s\($0)\":\"\(escapes)\"" }),
      ping("combining marks", list(8) { "\"s\($0)\":\"\(accents)\"" }),
      ping("long names", list(8) { "\"\(accents)\($0)\":0" }), longest,
    ]
  }()

  private static let batches: [Flood] = {
    let long = String(repeating: "x", count: 7_000)
    return [
      ("batches", #"{"jsonrpc":"2.0","id":1,"method":"getStatus"}"#),
      ("long batches", #"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\#(long)"}}"#),
    ].map { name, entry in
      let message = Array("[\(list(64) { _ in entry })]\n".utf8)
      var flood = Flood(name) { _ in message }
      flood.connections = 15
      flood.awaitsAnswers = true
      return flood
    }
  }()

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

  private static let discovery: Flood = {
    var flood = Flood("rpc.discover", #""method":"rpc.discover""#)
    flood.awaitsAnswers = true
    return flood
  }()

  /// As many subscriptions as a connection may have, over and over.
  private static let subscriptions: Flood = {
    let subscribe = #"{"jsonrpc":"2.0","id":1,"method":"subscribe"}"# + "\n"
    let message = Array(String(repeating: subscribe, count: 32).utf8)
    var flood = Flood("subscriptions") { _ in message }
    flood.reconnects = true
    flood.reads = false
    return flood
  }()

  private static let connections: Flood = {
    var flood = Flood("connections", #""method":"ping""#)
    flood.reconnects = true
    flood.reads = false
    return flood
  }()
}
