import BrokerCore
import BrokerServer
import JSON
import TestSupport
import Testing

/// Bad messages: each gets the code that the contract says, and the connection and the broker live on.
@Suite(.standardTimeLimit) struct BadMessageTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let message: String
    let code: Int

    init(_ code: Int, _ message: String) {
      self.code = code
      self.message = message
    }

    var testDescription: String { "\(code): \(message.prefix(70))" }
  }

  private static func call(_ method: String, _ params: String) -> String {
    #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
  }

  private static let malformed = [
    "{", "{]", "{}}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}", "{a:1}", "{'a':1}", "[1,]", "[,1]", "[1 2]", "[",
    "[}",
    "{\"a\":1 \"b\":2}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"", "{\"a\":tru}", "{\"a\":nul}",
    "{\"a\":True}",
    "{\"a\":NaN}", "{\"a\":Infinity}", "{\"a\":-Infinity}", "{\"a\":01}", "{\"a\":1.}", "{\"a\":.5}", "{\"a\":+1}",
    "{\"a\":1e}", "{\"a\":1e+}", "{\"a\":0x10}", "{\"a\":1e400}", "{\"a\":9223372036854775808}", "{\"a\":--1}",
    "{\"a\":\"\\x\"}", "{\"a\":\"\\u12\"}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\\udc00\"}", "{\"a\":\"\\ud800\\u0041\"}",
    "{\"a\":\"\t\"}", "{\"a\":\"\u{1}\"}", "{\"a\":\"b}", "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}",
    "{\"a\":{\"b\":1,\"b\":2}}", "{\"a\":1}{\"b\":2}", "{} x", "[] []", "{\"a\":/**/1}", "{//\n", "{\"a\":1}]",
  ].map { Case(-32700, $0) }

  private static let notRequests = [
    "[]", "{}", "[1]", "[1,2,3]", "{\"foo\":\"boo\"}", "{\"jsonrpc\":\"2.0\"}", "{\"jsonrpc\":\"2.0\",\"id\":1}",
    "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}",
    "{\"id\":1,\"method\":\"ping\"}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":1}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":null}", "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"ping\"}", "{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}",
    "{\"jsonrpc\":\"2.0\",\"method\":1,\"params\":\"bar\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":1}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":\"x\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
    "{\"jsonrpc\":\"2.0\",\"id\":\"" + String(repeating: "i", count: 200) + "\",\"method\":\"ping\"}",
  ].map { Case(-32600, $0) }

  private static let unknownMethods = [
    "", "Ping", "ping ", "getaccesstoken", "rpc.foo", "$/unknown", "Lock", "getidtoken", "📎",
  ]
  .map { Case(-32601, #"{"jsonrpc":"2.0","id":1,"method":"\#($0)"}"#) }

  private static let wrongParams = [
    call("ping", "[1]"), call("getAccessToken", "[\"default\"]"), call("getAccessToken", #"{"profile":1}"#),
    call("getAccessToken", #"{"profile":""}"#), call("getAccessToken", #"{"profile":"Default"}"#),
    call("getAccessToken", #"{"profile":"../x"}"#), call("getAccessToken", #"{"minValiditySeconds":"30"}"#),
    call("getAccessToken", #"{"minValiditySeconds":-1}"#), call("getAccessToken", #"{"minValiditySeconds":1e300}"#),
    call("getAccessToken", #"{"forceRefresh":1}"#), call("getAccessToken", #"{"forceRefresh":"true"}"#),
    call("getAccessToken", #"{"scopes":"read"}"#), call("getAccessToken", #"{"scopes":[1]}"#),
    call("getAccessToken", #"{"timeoutSeconds":-0.5}"#), call("login", #"{"email":1}"#),
    call("login", #"{"password":["x"]}"#), call("verifyOtp", "{}"), call("verifyOtp", #"{"otpFlowId":"x"}"#),
    call("verifyOtp", #"{"otpFlowId":1,"code":"123456"}"#), call("verifyOtp", #"{"otpFlowId":"x","code":123456}"#),
    call("resendOtp", "{}"), call("register", "{}"), call("register", #"{"email":"a@example.test"}"#),
    call("reportRejected", "{}"), call("reportRejected", #"{"tokenId":"x","status":500}"#),
    call("subscribe", #"{"events":["nothing"]}"#), call("subscribe", #"{"events":"login"}"#),
    call("subscribe", #"{"since":"1"}"#), call("unsubscribe", "{}"), call("unsubscribe", #"{"subscriptionId":"s99"}"#),
    call("logout", #"{"all":"yes"}"#), call("getCurrentUser", #"{"maxAgeSeconds":null,"profile":{}}"#),
  ].map { Case(-32602, $0) }

  static let all = malformed + notRequests + unknownMethods + wrongParams

  @Test func `there are at least a hundred of them`() { #expect(Self.all.count >= 100) }

  @Test(arguments: all)
  func `a bad message gets its code, and the next request is answered`(_ bad: Case) async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      _ = client.ask(#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#)
      let answer = try #require(client.ask(bad.message).first)
      #expect(answer.contains(#""code":\#(bad.code),"#), "\(answer)")
      let document = try JSONDocument(parsing: Array(answer.utf8))
      let error = document.root.kind == .array ? try document.root.elements().first?["error"] : document.root["error"]
      let data = try #require(error?["data"])
      #expect(data["kind"] != nil && data["nextAction"] != nil && data["correlationId"] != nil)
      #expect(bad.code != -32602 || data["pointer"] != nil, "\(answer)")
      #expect(client.ask(#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#) == [#"{"jsonrpc":"2.0","id":2,"result":{}}"#])
    }
  }

  @Test func `bytes that are not UTF-8 are malformed`() async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      for bytes: [UInt8] in [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82]] {
        client.send(Array(#"{"a":""#.utf8) + bytes + Array("\"}\n".utf8))
        #expect(client.lines().first?.contains("-32700") == true)
      }
    }
  }

  @Test func `a message that is too long is answered once and skipped, in both framings`() async throws {
    try await OwnThread.run {
      var limits = Limits()
      limits[.messageBytes] = 1000
      let harness = try ServerHarness(limits: limits)
      let long = "{\"a\":\"" + String(repeating: "x", count: 5000) + "\"}"
      let ping = #"{"jsonrpc":"2.0","id":2,"method":"ping"}"#
      let lines = try harness.connect()
      let answers = lines.ask(long + "\n" + ping)
      #expect(answers.count == 2)
      #expect(answers.first?.contains("messageTooLarge") == true)
      #expect(answers.last == #"{"jsonrpc":"2.0","id":2,"result":{}}"#)
      let headers = try harness.connect()
      for message in [long, ping] { headers.send("Content-Length: \(message.utf8.count)\r\n\r\n\(message)") }
      headers.read()
      let text = String(decoding: headers.received, as: UTF8.self)
      #expect(text.contains("messageTooLarge") && text.hasSuffix(#"{"jsonrpc":"2.0","id":2,"result":{}}"#))
    }
  }

  @Test(arguments: [
    "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "\u{16}\u{3}\u{1}", "hello\n", "Content-Length: -1\r\n\r\n{}",
    "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "Content-Type: a; charset=latin1\r\nContent-Length: 2\r\n\r\n{}",
  ])
  func `a stream that is no protocol gets one answer and is closed`(_ text: String) async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      client.send(text)
      #expect(client.hasEnded)
      #expect(String(decoding: client.received, as: UTF8.self).contains("-32700"))
    }
  }

  @Test func `nesting is accepted to the limit and refused beyond`() async throws {
    try await OwnThread.run {
      let client = try ServerHarness().connect()
      func nested(_ depth: Int) -> String {
        let inner = String(repeating: "[", count: depth - 2) + String(repeating: "]", count: depth - 2)
        return #"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":\#(inner)}}"#
      }
      #expect(client.ask(nested(64)) == [#"{"jsonrpc":"2.0","id":1,"result":{}}"#])
      #expect(client.ask(nested(65)).first?.contains("-32700") == true)
    }
  }
}
