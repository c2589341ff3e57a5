import Glibc
import JSON
import LinuxSystem
import TestSupport
import Testing

extension FaultMatrixTests {
  /// Many callers of one broker at once.
  struct CallerStormTests {
    private static let force = #"{"jsonrpc":"2.0","id":1,"method":"getAccessToken","params":{"forceRefresh":true}}"#
    private static let ping = #"{"jsonrpc":"2.0","id":2,"method":"ping"}"#

    // MARK: Thousands of callers

    /// Ten thousand callers of the release build.
    ///
    /// A build for debugging, on a busy machine, takes longer than a refresh may take to read so many.
    private static let (connections, depth) =
      Environment.current["TEST_PROGRAMS"] != nil ? (100, 100) : Patience.isInstrumented ? (25, 20) : (50, 40)

    @Test func `thousands of callers at the instant of expiry cost one refresh`() async throws {
      let (connections, depth) = (Self.connections, Self.depth)
      var setting = FaultStage.Setting(lifetime: 2, backgroundRefresh: false)
      setting.configuration = "limits: { maxRequestsInFlight: \(2 * depth) },"
      try await Storm.run(.callers, setting) { stage, sandbox in
        let old = try stage.client.accessToken()
        try stage.requireLife(share: 1)
        let wires = try (0..<connections).map { _ in try SocketWire(sandbox.socket) }
        _ = try stage.backend.ask("/settings", #"{"accessTokenLifetimeSeconds":600}"#)
        // Not for so long that a refresh would be given up (20 s).
        try stage.misbehave("hold-before-commit", #","seconds":15"#)
        let ask = #"{"jsonrpc":"2.0","id":1,"method":"getAccessToken","params":{"timeoutSeconds":120}}"#
        let burst = Array((String(repeating: ask + "\n", count: depth) + Self.ping + "\n").utf8)
        stage.awaitTokenEnd()
        for wire in wires { try wire.sendRaw(burst) }
        // The ping behind the requests is answered, so they wait.
        for wire in wires { #expect(try wire.nextNode()["id"]?.integer() == 2) }
        try stage.release()
        var answers: [[UInt8]] = []
        for wire in wires { for _ in 0..<depth { answers.append(try wire.next() ?? []) } }
        let last = Self.monotonic
        let tokens = try answers.map { answer in
          let answer = try JSONDocument(parsing: answer).root
          return try answer["result"]?["accessToken"]?.string() ?? String(decoding: answer.text, as: UTF8.self)
        }
        let tally = FaultMatrix.tally(tokens.map { $0 == old ? "A1" : $0 == tokens[0] ? "A2" : $0 })
        #expect(tally == ["\(connections * depth)× A2"])
        let ledger = try FaultLedger(stage.backend)
        #expect(ledger.words == ["R1.1 rotated"] && ledger.requests.count == 1)
        let delay = Int((last - (try #require(ledger.uses.first)).moment) * 1000)
        return tally + ["the last one \(delay) ms after the rotation"]
      }
    }

    /// The clock of the ledger's moments.
    private static var monotonic: Double {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    // MARK: Callers of every kind

    @Test func `whoever wants a new token, and whoever leaves, there is one refresh`() async throws {
      try await Storm.run(.mixture, in: .forMatrix, FaultStage.Setting(lifetime: 60)) { stage, sandbox in
        let token = try stage.client.accessToken()
        try stage.misbehave("hold-before-commit", #","seconds":15"#)
        let requests = [
          Self.force,
          #"{"jsonrpc":"2.0","id":3,"method":"reportRejected","params":{"accessToken":"\#(token)"}}"#,
          #"{"jsonrpc":"2.0","id":4,"method":"getAccessToken","params":{"forceRefresh":true,"timeoutSeconds":60}}"#,
          Self.ping,
        ]
        var wires = try (0..<22).map { _ in try SocketWire(sandbox.socket) }
        for wire in wires { try wire.sendRaw(Array((requests.joined(separator: "\n") + "\n").utf8)) }
        for wire in wires { #expect(try wire.nextNode()["id"]?.integer() == 2) }
        // Who began the refresh leaves; the next one takes back what it asked for.
        wires.removeFirst()
        for id in [1, 3, 4] {
          try wires[0].sendRaw(
            Array(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":\#(id)}}"#.utf8) + [0x0A])
        }
        let cancelled = try (0..<3).map { _ in try Self.word(of: wires[0].nextNode(), stage) }
        try stage.awaitHeld()
        try stage.release()
        let served = try wires.dropFirst().flatMap { wire in
          try (0..<3).map { _ in try Self.word(of: wire.nextNode(), stage) }
        }
        let words = cancelled + served
        let tally = FaultMatrix.tally(words)
        #expect(tally == ["3× cancelled", "60× A2"])
        #expect(try FaultLedger(stage.backend).words == ["R1.1 rotated"])
        return tally
      }
    }

    /// Why a caller was refused, or which token it got.
    private static func word(of answer: JSONNode, _ stage: FaultStage) throws -> String {
      try answer["error"]?["data"]?["kind"]?.string() ?? stage.answers.describe(answer)
    }

    // MARK: A dead provider

    @Test func `a provider that is dead delays no other profile`() async throws {
      try await Storm.run(.neighbour, in: .forMatrix, FaultStage.Setting()) { stage, sandbox in
        let other = try RESTBackend(sandbox, account: FaultStage.credentials)
        try stage.add("other: { provider: \"rest\", baseUrl: \"\(other.url)\" }")
        let account = #"{"profile":"other",\#(FaultStage.credentials.dropFirst())"#
        #expect(try stage.client.call("login", account)["status"]?.string() == "authenticated")
        try stage.misbehave("hold-before-commit", #","seconds":60"#)
        let waiting = try stage.beginForce()
        try stage.awaitHeld()
        let params = #"{"profile":"other","forceRefresh":true}"#
        let rounds = Patience.isInstrumented ? 3 : 10
        for _ in 0..<rounds { _ = try stage.client.call("getAccessToken", params) }
        #expect(try FaultLedger(other).words == (1...rounds).map { "R1.\($0) rotated" })
        // Nobody waits for the dead one who has a token that will do; and it was dead all the time.
        try stage.ask()
        try stage.awaitHeld()
        try stage.release()
        try stage.finish(waiting)
        #expect(stage.answers.words == ["A1", "A2"])
        return stage.answers.words + ["\(rounds)× a token of the other profile meanwhile"]
      }
    }
  }
}
