import JSON
import LinuxSystem
import TestSupport

/// A broker with a door to an API that tells what came.
struct DoorStage {
  static let account = #"{"email":"ada@example.com","password":"example password 1"}"#

  let api: RESTBackend
  let wire: SocketWire
  /// The door's id, its address and its placeholder.
  let (id, url, placeholder): (String, String, String)

  /// `params` are those of the door beside its profile; `rule` is what the rule for the API says beside its origin, and
  /// `others` are sections of the configuration.
  init(_ sandbox: Sandbox, _ params: String = "", rule: String = "", others: String = "") throws {
    api = try RESTBackend(sandbox, account: Self.account)
    let all = #"methods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]"#
    let allow = #"{ origin: "\#(api.url)", \#(rule.isEmpty ? all : rule) }"#
    let profile = #"{ provider: "rest", baseUrl: "\#(api.url)", requests: { allow: [\#(allow)] } }"#
    _ = try sandbox.owner(try sandbox.configure("{ profiles: { shop: \(profile) }\(others) }"))
    wire = try SocketWire(sandbox.socket)
    _ = try wire.call("login", Self.account)
    let door = try wire.call("openDoor", #"{"profile":"shop"\#(params)}"#)
    id = try door.required("doorId").string()
    url = try door.required("url").string()
    placeholder = try door.required("placeholder").string()
  }

  /// The credentials of a client.
  var slot: String { "Authorization: Bearer \(placeholder)\r\n" }

  /// The value that `Host` must have.
  var host: String { String(url.dropFirst("http://".count)) }

  /// Connects to the door.
  func connect() throws -> FileDescriptor {
    if url.hasPrefix("unix:") { return try UnixSocket.connect(to: String(url.dropFirst("unix:".count))) }
    guard let port = url.split(separator: ":").last.flatMap({ UInt16($0) }) else {
      throw TestFailure("no port: \(url)")
    }
    return try LoopbackSocket.connect(to: .ipv4, port: port)
  }

  /// Sends bytes, and reads to the end of the connection: `Connection: close` asks for that.
  func exchange(_ message: String) throws -> String { String(decoding: try octets(message), as: UTF8.self) }

  /// The same, with the answers as bytes.
  func octets(_ message: String) throws -> [UInt8] {
    let connection = try connect()
    try connection.sendAll(message.utf8.span)
    return try readToEnd(connection)
  }

  /// Sends one request that ends its connection, and gives the answer.
  func ask(
    _ method: String, _ path: String, _ fields: String? = nil, body: String = ""
  ) throws -> (status: Int, head: String, body: String) {
    let length = body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n"
    let text = try exchange(
      "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n\(fields ?? slot)\(length)Connection: close\r\n\r\n\(body)")
    return try Self.parts(of: text)
  }

  /// The status, the head and the body of one answer, its chunks put together.
  static func parts(of text: String) throws -> (status: Int, head: String, body: String) {
    guard let end = text.range(of: "\r\n\r\n"), let status = Int(text.dropFirst(9).prefix(3)) else {
      throw TestFailure("no answer: \(text.prefix(200))")
    }
    let head = String(text[..<end.lowerBound]).lowercased()
    var (rest, body) = (text[end.upperBound...], "")
    guard head.contains("transfer-encoding: chunked") else { return (status, head, String(rest)) }
    while let line = rest.range(of: "\r\n"), let count = Int(rest[..<line.lowerBound], radix: 16), count > 0 {
      let bytes = Array(rest[line.upperBound...].utf8)
      body += String(decoding: bytes[..<count], as: UTF8.self)
      rest = Substring(String(decoding: bytes[(count + 2)...], as: UTF8.self))
    }
    return (status, head, body)
  }

  private func readToEnd(_ connection: borrowing FileDescriptor) throws -> [UInt8] {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      switch connection.read(into: &buffer) {
      case .bytes(let count): all += buffer[..<count]
      case .failed(let error): throw error
      default: return all
      }
    }
  }

  /// How many requests have come to the API.
  var count: Int {
    get throws {
      try api.ask("/ledger?event=request").required("entries").elements().filter {
        try $0.required("endpoint").string() == "api"
      }.count
    }
  }
}

extension String {
  /// The first place of a text.
  fileprivate func range(of text: String) -> Range<Index>? { self[...].range(of: text) }
}

extension Substring {
  /// The first place of a text.
  fileprivate func range(of text: String) -> Range<Index>? { firstRange(of: text) }
}
