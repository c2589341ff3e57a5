import JSON
import LinuxSystem
import StateDirectory
import TestSupport
import Testing

/// Signals and commands to stop while a refresh is under way whose answer comes only once.
@Suite(.standardTimeLimit) struct StopSignalTests {
  private static let account =
    #"{"email":"ada@example.com","password":"example password 1","name":"Ada","twoFactor":"off"}"#
  private static let login = #"{"email":"ada@example.com","password":"example password 1"}"#

  /// A broker whose refresh has been done by the provider, which keeps the answer back.
  private struct Stage {
    let sandbox: Sandbox
    let backend: RESTBackend
    let owner: Program
    let options: [String]
    let wire: SocketWire

    init(_ sandbox: Sandbox) throws {
      self.sandbox = sandbox
      backend = try RESTBackend(sandbox, account: StopSignalTests.account)
      options = try sandbox.configure(
        #"{ profiles: { default: { provider: "rest", baseUrl: "\#(backend.url)" } } }"#)
      owner = try sandbox.owner(options)
      wire = try SocketWire(sandbox.socket)
      #expect(try wire.call("login", StopSignalTests.login).required("status").string() == "authenticated")
      _ = try backend.ask("/misbehave", #"{"endpoint":"refresh","name":"hold-after-commit"}"#)
      try wire.send(Array(#"{"jsonrpc":"2.0","id":1,"method":"getAccessToken","params":{"forceRefresh":true}}"#.utf8))
      let backend = backend
      #expect(try Patience.wait { try !backend.ask("/held").required("held").elements().isEmpty })
    }

    /// Waits until the log has said so often for what is waited.
    func awaitLines(_ count: Int) {
      let owner = owner
      let isSaid = Patience.wait {
        owner.errorText.split(separator: "\n").count { $0.contains("stop --now") } >= count
      }
      #expect(isSaid, "\(owner.errorText)")
    }
  }

  @Test func `a second SIGTERM and a second stop shorten nothing, and the answer is kept`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      for count in 1...3 {
        try stage.owner.send(.terminate)
        stage.awaitLines(count)
      }
      let stop = try sandbox.start(BuiltPrograms.command, ["--state", sandbox.state, "stop"], input: .nothing)
      let sentence = "waiting for 1 refresh or login under way"
      #expect(Patience.wait { stop.errorText.contains(sentence) }, "\(stop.errorText)")
      try stage.owner.send(.interrupt)
      stage.awaitLines(4)
      _ = try stage.backend.ask("/release", "{}")
      #expect(try stop.wait() == 0)
      #expect(try stage.owner.wait() == 0, "\(stage.owner.errorText)")
      // The token that came with the answer is there.
      _ = try sandbox.owner(stage.options)
      let wire = try SocketWire(sandbox.socket)
      _ = try wire.call("getAccessToken", #"{"forceRefresh":true}"#)
      #expect(try stage.backend.refreshes() == ["rotated", "rotated"])
    }
  }

  @Test func `a second SIGINT ends the broker at once`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      try stage.owner.send(.interrupt)
      stage.awaitLines(1)
      try stage.owner.send(.interrupt)
      #expect(try stage.owner.wait() == 1)
      #expect(!FileLock.isHeld(sandbox.state + "/broker.lock"))
    }
  }

  @Test func `stop --now ends a broker at once that is stopping already`() async throws {
    try await Sandbox.run { sandbox in
      let stage = try Stage(sandbox)
      try stage.owner.send(.terminate)
      stage.awaitLines(1)
      let stop = try sandbox.command("stop", "--now")
      #expect(stop.code == 0, "\(stop.errors)")
      #expect(try stage.owner.wait() == 0, "\(stage.owner.errorText)")
      #expect(stage.owner.errorText.contains("answers that come only once are not waited for"))
    }
  }
}
