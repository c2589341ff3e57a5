import JSON
import JSONRPC
import LinuxSystem

/// Clients that let every secret pass through a broker in every way there is, and note what must have gone afterwards.
final class MemoryConversation {
  static let password = "Zq7-memory-MARK-password-4f09c1d2e8b7-vTkWx"
  static let wrongPassword = "Yr3-memory-MARK-mistaken-a61b00c9d4e2-LpQsn"

  /// What was seen so far.
  private(set) var marks: [MemoryMark] = []
  private let sandbox: Sandbox
  private var tokens: [String] = []

  init(_ sandbox: Sandbox) {
    self.sandbox = sandbox
    mark("password", Self.password)
    mark("wrong password", Self.wrongPassword)
  }

  /// How many requests for a token were answered.
  private(set) var answeredCount = 0

  private func mark(_ name: String, _ text: String) {
    let bytes = Array(text.utf8)
    marks.append(MemoryMark(name, bytes))
    // Every three bytes become four characters, from the beginning of the text.
    marks.append(MemoryMark("\(name), base64", MemoryText.base64URL(bytes)))
  }

  /// Notes a token by its signature: the rest of it is public.
  private func note(_ token: String) {
    guard !tokens.contains(token) else { return }
    tokens.append(token)
    let signature = Array((token.split(separator: ".").last ?? "").utf8)
    let name = "access token"
    marks.append(MemoryMark(name, signature))
    marks.append(MemoryMark("\(name), base64", MemoryText.base64URL(Array(token.utf8)).suffix(100)))
    marks.append(MemoryMark("\(name), raw signature", MemoryText.decoded(signature)))
  }

  private func noteToken(in node: JSONNode) throws {
    note(try node.required("accessToken").string())
    answeredCount += 1
  }

  // MARK: What clients do

  /// An account, a code, a session; mistakes on the way.
  func logIn(_ wire: SocketWire) throws {
    let account = #""email":"ada@example.com","password":"\#(Self.password)""#
    let first = try wire.call("register", #"{\#(account),"phoneNumber":"+15550100042"}"#)
    try enterCode(first, wire)
    _ = try wire.refusal("login", #"{"email":"ada@example.com","password":"\#(Self.wrongPassword)"}"#)
    // A password with an escape in it takes another way.
    let escaped = Self.password.replacing("-", with: #"\u002d"#)
    try enterCode(try wire.call("login", #"{"email":"ada@example.com","password":"\#(escaped)"}"#), wire)
  }

  private func enterCode(_ challenge: JSONNode, _ wire: SocketWire) throws {
    let flow = try challenge.required("challenge").required("otpFlowId").string()
    let code = try Outbox.newestCode(in: sandbox.outbox)
    marks.append(MemoryMark("code", Array(code.utf8)))
    // No common password: those are compiled into the program.
    let wrong = "7193860254"
    marks.append(MemoryMark("wrong code", Array(wrong.utf8)))
    _ = try wire.refusal("verifyOtp", #"{"otpFlowId":"\#(flow)","code":"\#(wrong)"}"#)
    _ = try wire.call("verifyOtp", #"{"otpFlowId":"\#(flow)","code":"\#(code)"}"#)
    try noteToken(in: try wire.call("getAccessToken"))
  }

  /// New tokens, wanted in all ways.
  func refresh(_ wire: SocketWire) throws {
    try noteToken(in: try wire.call("getAccessToken", #"{"forceRefresh":true}"#))
    try noteToken(in: try wire.call("getAccessToken", #"{"minValiditySeconds":5}"#))
    let last = tokens.last ?? ""
    try noteToken(in: try wire.call("reportRejected", #"{"accessToken":"\#(last)"}"#))
    // An old one.
    try noteToken(in: try wire.call("reportRejected", #"{"accessToken":"\#(tokens[0])","status":401}"#))
    _ = try wire.call("getCurrentUser")
  }

  /// Many tokens in one go, read late, so that the answers pile up.
  func pipeline(_ wire: SocketWire, depth: Int, rounds: Int) throws {
    let request = Array(#"{"jsonrpc":"2.0","id":7,"method":"getAccessToken","params":{}}"#.utf8)
    for _ in 0..<rounds {
      for _ in 0..<depth { try wire.send(request) }
      for _ in 0..<depth { try noteToken(in: try wire.nextNode().required("result")) }
    }
  }

  /// Many tokens that nobody ever reads: the connection is closed while most of them wait in the broker.
  func abandon(_ framing: Framing) throws {
    do {
      let wire = try SocketWire(sandbox.socket, framing)
      for number in 0..<1000 {
        try wire.send(Array(#"{"jsonrpc":"2.0","id":\#(number),"method":"getAccessToken"}"#.utf8))
      }
      // The broker has read all of them, or as many as it wants to.
      _ = try ping.call("ping")
    }
    _ = try ping.call("ping")
  }

  /// It waits for longer than a busy machine takes to look at the memory.
  private static let waitElsewhere =
    #"{"jsonrpc":"2.0","id":9,"method":"getAccessToken","#
    + #""params":{"profile":"other","waitForLogin":true,"timeoutSeconds":600}}"#

  /// A batch of tokens that is not complete: the profile `other` is not logged in.
  func holdBatch(_ framing: Framing = .lines) throws -> SocketWire {
    let wire = try SocketWire(sandbox.socket, framing)
    let token = #"{"jsonrpc":"2.0","id":1,"method":"getAccessToken","params":{"timeoutSeconds":20}}"#
    try wire.send(Array("[\(Array(repeating: token, count: 9).joined(separator: ",")),\(Self.waitElsewhere)]".utf8))
    _ = try ping.call("ping")
    return wire
  }

  /// Such a batch whose client goes away.
  func abandonBatch(_ framing: Framing) throws {
    do { _ = try holdBatch(framing) }
    _ = try ping.call("ping")
  }

  /// Messages with a secret in them that end in the middle, short ones and long ones, whose client goes away.
  func abandonHalf(_ framing: Framing) throws {
    for filler in [0, 100, 5_000, 100_000, 400_000] {
      do {
        let wire = try SocketWire(sandbox.socket, framing)
        let head = framing == .headers ? "Content-Length: 900000\r\n\r\n" : ""
        let secret = #""password":"\#(Self.password)","refreshToken":"\#(tokens[0])""#
        let space = String(repeating: " ", count: filler)
        try wire.sendRaw(Array((head + #"{"jsonrpc":"2.0",\#(secret),\#(space)"id":1,\#(secret),"method":"lo"#).utf8))
        _ = try ping.call("ping")
      }
      _ = try ping.call("ping")
    }
  }

  /// Tokens that wait in the broker for a client that does not read.
  func stall(_ framing: Framing) throws -> SocketWire {
    let wire = try SocketWire(sandbox.socket, framing)
    for number in 0..<2500 {
      try wire.send(Array(#"{"jsonrpc":"2.0","id":\#(number),"method":"getAccessToken"}"#.utf8))
    }
    _ = try ping.call("ping")
    return wire
  }

  /// A token that is waited for until somebody logs in.
  func waitForLogin(_ wire: SocketWire, _ other: SocketWire) throws {
    _ = try other.call("logout")
    try wire.send(
      Array(#"{"jsonrpc":"2.0","id":1,"method":"getAccessToken","params":{"waitForLogin":true}}"#.utf8))
    _ = try other.call("ping")
    let account = #"{"email":"ada@example.com","password":"\#(Self.password)"}"#
    try enterCode(try other.call("login", account), other)
    try noteToken(in: try wire.nextNode().required("result"))
  }

  /// Several requests in one message, cached ones and others.
  func batch(_ wire: SocketWire) throws {
    let plain = #"{"jsonrpc":"2.0","id":1,"method":"getAccessToken"}"#
    let slow = #"{"jsonrpc":"2.0","id":2,"method":"getAccessToken","params":{"timeoutSeconds":20}}"#
    let report = #"{"jsonrpc":"2.0","id":3,"method":"reportRejected","params":{"accessToken":"\#(tokens[0])"}}"#
    for answer in try wire.ask("[\(plain),\(slow),\(plain),\(report)]").elements() {
      try noteToken(in: try answer.required("result"))
    }
  }

  /// A request byte by byte, and one in two parts that are cut inside the secret.
  func drip(_ framing: Framing) throws {
    let wire = try SocketWire(sandbox.socket, framing)
    let report = #"{"jsonrpc":"2.0","id":3,"method":"reportRejected","params":{"accessToken":"\#(tokens[0])"}}"#
    var message: [UInt8] = []
    framing.append(Array(report.utf8).span, to: &message)
    for part in [1, 7, message.count / 2, message.count - 30] {
      for start in stride(from: 0, to: message.count, by: part) {
        try wire.sendRaw(Array(message[start..<min(start + part, message.count)]))
        // Its answer on another connection says that what came before was read.
        if start % 5 == 0 { _ = try ping.call("ping") }
      }
      try noteToken(in: try wire.nextNode().required("result"))
    }
  }

  private lazy var ping: SocketWire = {
    guard let wire = try? SocketWire(sandbox.socket) else { preconditionFailure("the broker has gone") }
    return wire
  }()

  /// Messages with a secret in them that are refused, or never end.
  func fail() throws {
    let account = #""email":"ada@example.com","password":"\#(Self.password)""#
    let wire = try SocketWire(sandbox.socket)
    for params in [
      #"{"email":7,"password":"\#(Self.password)"}"#, #"{\#(account),"profile":"elsewhere"}"#,
      #"["\#(Self.password)"]"#, #"{"email":"ada@example.com","password":["\#(Self.password)"]}"#,
      #"{"refreshToken":"\#(tokens[0])","method":"nonsense"}"#,
    ] {
      for method in ["login", "register", "verifyOtp", "nonsense"] { _ = try wire.refusal(method, params) }
    }
    // A secret in the place of a name, where secrets are expected and where they are not.
    _ = try wire.refusal("login", #"{"\#(Self.password)":true}"#)
    _ = try wire.call("getSession", #"{"\#(Self.password)":true}"#)
    let escaped = Self.password.replacing("-", with: #"\u002d"#)
    _ = try wire.call("getSession", #"{"\#(escaped)":true,"\#(escaped)x":true}"#)
    _ = try wire.ask(#"{"jsonrpc":"2.0","id":1,"method":"login","params":{\#(account)}"#)
    _ = try wire.ask(#"{"jsonrpc":"2.0","id":1,"method":"login","params":{\#(account)},"params":1}"#)
    try wire.send(Array(#"{"jsonrpc":"2.0","method":"reportRejected","params":{"accessToken":"\#(tokens[0])"}}"#.utf8))
    _ = try wire.call("ping")
    for framing in [Framing.lines, .headers] {
      let cut = try SocketWire(sandbox.socket, framing)
      let head = framing == .headers ? "Content-Length: 4000\r\n\r\n" : ""
      try cut.sendRaw(Array((head + #"{"jsonrpc":"2.0","id":1,"method":"login","params":{\#(account)"#).utf8))
      _ = try ping.call("ping")
      try cut.finishSending()
      _ = try cut.readToEnd()
    }
    try tooLong(account)
  }

  /// A message that is refused for its length, with a secret at its beginning and at its end.
  private func tooLong(_ account: String) throws {
    let wire = try SocketWire(sandbox.socket)
    let filler = String(repeating: " ", count: 1 << 20)
    try wire.sendRaw(
      Array((#"{"jsonrpc":"2.0","id":1,\#(filler)"method":"login","params":{\#(account)}}"# + "\n").utf8))
    _ = try wire.nextNode()
    _ = try wire.call("ping")
  }
}

/// Base64url, as tests need it.
enum MemoryText {
  private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// The characters of all whole groups of three bytes.
  static func base64URL(_ bytes: [UInt8]) -> [UInt8] {
    stride(from: 0, to: bytes.count - 2, by: 3).flatMap { index in
      let group = bytes[index..<index + 3].reduce(0) { $0 << 8 | Int($1) }
      return [18, 12, 6, 0].map { letters[group >> $0 & 63] }
    }
  }

  /// The bytes that characters stand for; those that are none are left out.
  static func decoded(_ text: [UInt8]) -> [UInt8] {
    var (bytes, group, bits): ([UInt8], Int, Int) = ([], 0, 0)
    for value in text.compactMap({ letters.firstIndex(of: $0) }) {
      (group, bits) = ((group << 6 | value) & 0xFFFF, bits + 6)
      guard bits >= 8 else { continue }
      bits -= 8
      bytes.append(UInt8(group >> bits & 0xFF))
    }
    return bytes
  }
}
