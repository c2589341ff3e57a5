import JSON
import TestSupport
import Testing

/// Callers who fill the memory that they are given, while a session is refreshed.
@Suite(.standardTimeLimit) struct MemoryPressureTests {
  /// As large as access tokens with many claims are.
  private static let tokenBytes = 12_000
  /// As many requests as a connection may have under way.
  private static let calls = 64

  @Test func `long account calls cost no session its refresh token`() async throws {
    try await FaultStage.run(in: .forMatrix, FaultStage.Setting()) { stage, sandbox in
      let slow = try RESTBackend(sandbox, account: FaultStage.credentials)
      try stage.add("slow: { provider: \"rest\", baseUrl: \"\(slow.url)\" }")
      for endpoint in ["resetPassword", "forgotPassword"] {
        _ = try slow.ask(
          "/misbehave", #"{"endpoint":"\#(endpoint)","name":"hold-then-forget","times":-1,"seconds":60}"#)
      }
      let value = String(repeating: "a", count: Self.tokenBytes)
      try stage.misbehave("field", #","path":"access_token","value":"\#(value)","times":-1"#)
      // Each connection fills the gaps that the longer calls before it have left.
      var callers: [SocketWire] = []
      for length in [16_000, 16_000, 7_000, 3_500, 1_700] { callers.append(try Self.call(sandbox, length)) }
      #expect(try stage.force() == "A2")
      #expect(try stage.ask() == "A2")
      #expect(try stage.session() == "authenticated")
      let ledger = try FaultLedger(stage.backend)
      #expect(ledger.words == ["R1.1 rotated"])
      #expect(ledger.endings.isEmpty)
      withExtendedLifetime(callers) {}
    }
  }

  /// A connection with as many long calls as it may have, each of which has been read.
  private static func call(_ sandbox: Sandbox, _ length: Int) throws -> SocketWire {
    let wire = try SocketWire(sandbox.socket)
    let secret = String(repeating: "x", count: length)
    var text = ""
    for id in 1..<calls {
      let params =
        id.isMultiple(of: 8)
        ? #"{"profile":"slow","email":"\#(secret)@example.com"}"#
        : #"{"profile":"slow","token":"\#(secret)","password":"\#(secret)"}"#
      let method = id.isMultiple(of: 8) ? "forgotPassword" : "resetPassword"
      text += #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"# + "\n"
    }
    try wire.send(Array((text + #"{"jsonrpc":"2.0","id":"last","method":"ping"}"# + "\n").utf8))
    // Requests are accepted in order, so the others have been read when this one is answered.
    while try wire.nextNode().required("id").text != Array(#""last""#.utf8)[...] {}
    return wire
  }
}
