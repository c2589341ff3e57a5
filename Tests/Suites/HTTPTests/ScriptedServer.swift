import HTTP

/// A server on this machine that follows a script for each connection.
struct ScriptedServer: Sendable {
  /// What a connection does next.
  enum Step {
    case read
    case take
    case line
    case mail
    case secure(Face)
    case send(String)
    case drip(String)
    case flood(String)
    case pour(Int)
    case swallow
    case tunnel(Int)
    case hold
    case wait
    case again
    case reset
    case close

    var text: String {
      switch self {
      case .read: "read"
      case .take: "take"
      case .line: "line"
      case .mail: "mail"
      case .secure(let face): "secure:" + face.rawValue
      case .send(let text): "send:" + ScriptedServer.hexadecimal(text)
      case .drip(let text): "drip:" + ScriptedServer.hexadecimal(text)
      case .flood(let text): "flood:" + ScriptedServer.hexadecimal(text)
      case .pour(let size): "pour:\(size)"
      case .swallow: "swallow"
      case .tunnel(let port): "tunnel:\(port)"
      case .hold: "hold"
      case .wait: "wait"
      case .again: "again"
      case .reset: "reset"
      case .close: "close"
      }
    }
  }

  /// How the server shows itself.
  enum Face: String {
    case plain, good, expired, tls11
    case otherHost = "other-host"
    case selfSigned = "self-signed"
  }

  let port: Int
  let face: Face

  /// Starts a server; the last script serves all further connections.
  init(_ face: Face = .plain, _ scripts: [Step]...) {
    let texts = scripts.map { $0.map(\.text).joined(separator: " ") }
    port = Int(ServerProcess.shared.ask(["listen", face.rawValue] + texts)[0]) ?? 0
    self.face = face
  }

  /// A server that answers every request with a JSON body, and keeps its connections.
  static func answering(_ face: Face = .plain, _ body: String = "{}") -> ScriptedServer {
    ScriptedServer(face, [.read, .send(reply(200, body)), .again])
  }

  /// A whole response.
  static func reply(_ status: Int, _ body: String, _ fields: [String] = ["Content-Type: application/json"]) -> String {
    (["HTTP/1.1 \(status) Something"] + fields + ["Content-Length: \(body.utf8.count)", "", body])
      .joined(separator: "\r\n")
  }

  /// An address on the server.
  func url(_ path: String = "/", host: String = "localhost") throws -> HTTPURL {
    try HTTPURL("\(face == .plain ? "http" : "https")://\(host):\(port)\(path)")
  }

  /// What happened, as `Servers/scripted.py` tells it, once nothing happens any more.
  var ledger: [String] { ServerProcess.shared.ask(["ledger", String(port)], isList: true) }

  /// How many connections there were.
  var connections: Int { ledger.filter { $0.hasPrefix("connection") }.count }

  /// Every byte that came after the handshakes, a text for each request.
  var requests: [String] {
    ledger.compactMap { line in
      let words = line.split(separator: " ")
      return words[0] == "request" ? Self.text(hexadecimal: words.count > 2 ? String(words[2]) : "") : nil
    }
  }

  /// Lets all connections go on that hold.
  func release() { _ = ServerProcess.shared.ask(["release", String(port)]) }

  /// Lets nobody connect any more.
  func close() { _ = ServerProcess.shared.ask(["close", String(port)]) }

  /// The file of the authority that vouches for the faces `good`, `expired` and `otherHost`.
  static var caFile: String { ServerProcess.shared.ask(["file", "ca.pem"])[0] }

  /// The pin of a face's key.
  static func pin(_ face: Face) -> String { ServerProcess.shared.ask(["pin", face.rawValue])[0] }

  /// The bytes of a text in hexadecimal.
  static func hexadecimal(_ text: String) -> String {
    text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static func text(hexadecimal: String) -> String {
    let digits = hexadecimal.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    return String(
      decoding: stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) },
      as: UTF8.self)
  }
}
