import BrokerProtocol
import BrokerServer
import JSON
import TestSupport
import Testing

/// What is refused before a provider, the vault or an event has any of it.
@Suite(.standardTimeLimit) struct LoginParameterTests {
  private static func call(_ method: String, _ params: String) -> String {
    #"{"jsonrpc":"2.0","id":9,"method":"\#(method)","params":\#(params)}"#
  }

  private static func pointer(_ answer: [String]) throws -> String? {
    let error = try JSONDocument(parsing: Array((answer.first ?? "").utf8)).root["error"]
    guard try error?["code"]?.integer() == -32602 else { return nil }
    return try error?["data"]?["pointer"]?.string()
  }

  @Test(arguments: [
    (#"["openid",""]"#, "/scopes/1"), (#"["two words"]"#, "/scopes/0"), (#"["a\"b"]"#, "/scopes/0"),
    (#"["a\\b"]"#, "/scopes/0"), (#"["ü"]"#, "/scopes/0"), (#"["a\u0000"]"#, "/scopes/0"),
    (#"["\#(String(repeating: "x", count: 257))"]"#, "/scopes/0"),
    ("[" + (0..<129).map { "\"s\($0)\"" }.joined(separator: ",") + "]", "/scopes"),
    ("[" + (0..<12).map { "\"\(String(repeating: "x", count: 100))\($0)\"" }.joined(separator: ",") + "]", "/scopes"),
  ])
  func `scopes that are none, too many or too long are refused with their place`(
    scopes: String, pointer: String
  ) async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      let login = #"{"email":"a@example.test","password":"right","scopes":\#(scopes)}"#
      #expect(try Self.pointer(client.ask(Self.call("login", login))) == pointer)
      #expect(harness.store.events.isEmpty)
    }
  }

  @Test(arguments: [
    ("login", "email", 255), ("login", "phoneNumber", 65), ("login", "email", 60_000), ("register", "email", 255),
    ("register", "phoneNumber", 65), ("register", "name", 1025), ("forgotPassword", "email", 255),
    ("login", "clientContext", 4097),
  ])
  func `an address, a name or a context that is too long is refused`(method: String, member: String, length: Int)
    async throws
  {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let client = try harness.connect()
      var members = ["email": "a@example.test", "password": "right"]
      if method == "forgotPassword" { members["password"] = nil }
      members[member] = String(repeating: "x", count: length)
      let params = members.map { #""\#($0.key)":"\#($0.value)""# }.joined(separator: ",")
      #expect(try Self.pointer(client.ask(Self.call(method, "{\(params)}"))) == "/" + member)
    }
  }

  @Test func `scopes of a usual kind are taken`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness()
      let scopes = #"["openid","https://www.example.com/auth/drive.readonly","api://0000/Files.Read","offline_access"]"#
      let login = #"{"email":"a@example.test","password":"right","scopes":\#(scopes)}"#
      #expect(try harness.connect().ask(Self.call("login", login)).first?.contains("authenticated") == true)
    }
  }
}
