import JSON
import LinuxSystem
import StateDirectory
import TestSupport
import Testing

extension FaultMatrixTests {
  /// Many programs at once.
  struct ProgramStormTests {
    private static let force = #"{"jsonrpc":"2.0","id":1,"method":"getAccessToken","params":{"forceRefresh":true}}"#
    fileprivate static let ask = #"{"jsonrpc":"2.0","id":1,"method":"getAccessToken"}"#
    private static let ping = #"{"jsonrpc":"2.0","id":2,"method":"ping"}"#

    // MARK: Six editors

    @Test func `six editors on one state directory share one refresh, and lose nothing when the owner is killed`()
      async throws
    {
      // The six start twice while the token lives.
      let setting = FaultStage.Setting(lifetime: 10)
      try await Storm.run(.editors, in: .forMatrix, setting) { stage, sandbox in
        let token = try stage.client.accessToken()
        try stage.stop()
        try stage.misbehave("hold-then-forget")
        let editors = try (0..<6).map { _ in try Editor(sandbox, stage) }
        // All of them wait for the one refresh: each ping is answered behind a request that was taken.
        for editor in editors {
          try editor.wire.send(Array(Self.force.utf8))
          #expect(try editor.wire.ask(Self.ping)["id"]?.integer() == 2)
        }
        try stage.awaitHeld()
        try Self.killOwner(sandbox)
        var heard = try editors.map { "exit \(try $0.end())" }
        try stage.release()
        // The next token outlives the test, however slow the machine is.
        _ = try stage.backend.ask("/settings", #"{"accessTokenLifetimeSeconds":600}"#)
        // Started again all at once, each has the session: the token to its end, then the next one.
        let next = try (0..<6).map { _ in try Editor(sandbox, stage) }
        let held = try next.map { try $0.hear(Self.ask) }
        let refused = try next.map { try $0.hear(Self.force) }
        try stage.requireLife(share: 1)
        try stage.awaitUse(after: 1)
        let fresh = try next.map { try $0.awaitToken(after: token) }
        heard += held.map { $0 == token ? "A1" : $0 } + refused + fresh.map { $0 == fresh[0] ? "A2" : $0 }
        #expect(try FaultLedger(stage.backend).words == ["R1.1 not acted on", "R1.1 rotated"])
        let tally = FaultMatrix.tally(heard)
        #expect(tally == ["6× A1", "6× A2", "6× exit 8", "6× refreshOutcomeUnknown"])
        return tally
      }
    }

    /// A program that speaks with the broker as an editor does.
    private struct Editor {
      let program: Program
      let wire: ProgramWire

      init(_ sandbox: Sandbox, _ stage: FaultStage) throws {
        let words = ["--state", sandbox.state] + stage.options + ["serve", "--stdio"]
        program = try sandbox.start(BuiltPrograms.command, words)
        wire = ProgramWire(program)
      }

      /// Its exit code, after the end of its output.
      func end() throws -> Int32 {
        guard try wire.next() == nil else { throw TestFailure("an answer came from nowhere") }
        return try program.wait()
      }

      /// The token that a request is answered with, or the kind of the error.
      func hear(_ request: String) throws -> String {
        let answer = try wire.ask(request)
        if let token = try answer["result"]?["accessToken"]?.string() { return token }
        return try answer.required("error").required("data").required("kind").string()
      }

      /// Asks until there is another token, or no session any more.
      func awaitToken(after token: String) throws -> String {
        let deadline = Patience.end
        while BootClock.now < deadline {
          let word = try hear(ProgramStormTests.ask)
          if word != token, word != "refreshOutcomeUnknown" { return word }
        }
        throw TestFailure("no other token")
      }
    }

    private static func killOwner(_ sandbox: Sandbox) throws {
      guard let record = OwnerRecord(at: sandbox.state + "/broker.lock") else { throw TestFailure("no owner") }
      try Signal(number: 9).send(to: record.pid)
    }

    // MARK: Four hundred starts

    @Test func `four hundred clients that start at once, with no owner and an old token, cost one refresh`()
      async throws
    {
      let count = Patience.repetitions(400)
      try await Storm.run(.starts, FaultStage.Setting(lifetime: 2, backgroundRefresh: false)) { stage, sandbox in
        try stage.stop()
        _ = try stage.backend.ask("/settings", #"{"accessTokenLifetimeSeconds":600}"#)
        stage.awaitTokenEnd()
        // One line for each client, in one pipe: shorter than what is written at a time (PIPE_BUF).
        let script = #"n=0; while [ $n -lt \#(count) ]; do "$@" & n=$((n+1)); done; wait"#
        let words =
          ["-c", script, "sh", BuiltPrograms.command, "--state", sandbox.state] + stage.options
          + ["call", "getAccessToken"]
        let outcome = try sandbox.run("/bin/sh", words)
        let tokens = try outcome.output.split(separator: "\n").map {
          try JSONDocument(parsing: Array($0.utf8)).root.required("accessToken").string()
        }
        let tally = FaultMatrix.tally(tokens.map { $0 == tokens.first ? "A2" : "another token" })
        #expect(tally == ["\(count)× A2"], "\(outcome.errors.prefix(2000))")
        #expect(try FaultLedger(stage.backend).words == ["R1.1 rotated"])
        // One start is in the log, not one a client.
        let log = String(decoding: try Directory.bytes(of: sandbox.state + "/broker.log"), as: UTF8.self)
        #expect(log.split(separator: "\n").filter { $0.contains("ready") }.count == 1, "\(log)")
        return tally
      }
    }
  }
}
