/// Messages that a limit refuses, or whose connection it closes.
extension Flood {
  /// All of them.
  static let refused: [Flood] = {
    let mark = String(repeating: "e\u{301}\u{302}\u{303}", count: size / 8)
    let scopes = (0..<(size / 12)).map { "\"scope\($0)\"" }.joined(separator: ",")
    var unread = Flood("unread answers", #""method":"rpc.discover""#)
    unread.reads = false
    unread.connections = 200
    return [
      filled("too many members", { "\"m\($0)\":0" }),
      filled("too many numbers", { _ in "-1.7976931348623157e308" }, open: #"{"n":["#, close: "]}"),
      filled("too many strings", { _ in #""\u00e9\ud83d\ude00""# }, open: #"{"s":["#, close: "]}"),
      Flood("a string that is too long", #""method":"login","params":{"email":"\#(mark)","password":"p"}"#),
      Flood("too many scopes", #""method":"getAccessToken","params":{"scopes":[\#(scopes)]}"#), unread,
    ]
  }()

  /// The beginning of a message that never ends, once on each connection.
  static let half: Flood = {
    let begun = #"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":""#
    let half = Array((begun + String(repeating: "x", count: size)).utf8)
    var flood = Flood("half messages") { number in number & 0xFFFF_FFFF == 0 ? half : [] }
    flood.connections = 1500
    return flood
  }()

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
}
