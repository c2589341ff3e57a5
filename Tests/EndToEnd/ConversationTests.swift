import JSON
import JSONRPC
import LinuxSystem
import TestSupport
import Testing

/// Every golden conversation goes the same way, whatever carries it.
@Suite(.standardTimeLimit) struct ConversationTests {
  /// What carries a conversation.
  enum Route: String, CaseIterable, Sendable {
    case privateOwner, socket, connect, serveStdio, servePrivate
  }

  @Test(arguments: Conversation.names, Route.allCases)
  func `a conversation goes its way in lines`(_ name: String, _ route: Route) async throws {
    try await Self.play(name, route, .lines)
  }

  @Test(arguments: Conversation.names, Route.allCases)
  func `a conversation goes its way in header frames`(_ name: String, _ route: Route) async throws {
    try await Self.play(name, route, .headers)
  }

  @Test(arguments: Conversation.namesWithBackend)
  func `a conversation goes the same way with a REST backend`(_ name: String) async throws {
    try await Sandbox.run { sandbox in
      let written = try Conversation(named: name)
      let backend = try RESTBackend(sandbox, account: nil)
      _ = try backend.ask("/settings", written.backendSettings)
      let conversation = try written.overREST(at: backend.url)
      let owner = try sandbox.owner(try conversation.configuration.map { try sandbox.configure($0) } ?? [])
      var player = ConversationPlayer(conversation, with: .rest(backend))
      try player.play(on: SocketWire(sandbox.socket))
      try owner.send(.terminate)
      #expect(try owner.wait() == 0)
      #expect(try backend.ask("/ledger?event=serverBug").required("entries").elements().isEmpty)
    }
  }

  @Test func `there are conversations`() {
    #expect(Conversation.names.count >= 11)
    #expect(Conversation.namesWithBackend.count >= 5)
  }

  private static func play(_ name: String, _ route: Route, _ framing: Framing) async throws {
    try await Sandbox.run { sandbox in
      let conversation = try Conversation(named: name)
      let options = try conversation.configuration.map { try sandbox.configure($0) } ?? []
      var player = ConversationPlayer(conversation, with: .embedded(outbox: sandbox.outbox))
      guard route != .socket else {
        let owner = try sandbox.owner(options)
        try player.play(on: SocketWire(sandbox.socket, framing))
        try owner.send(.terminate)
        #expect(try owner.wait() == 0)
        return
      }
      if route == .connect { _ = try sandbox.owner(options) }
      let program = try program(route, options, sandbox)
      try player.play(on: ProgramWire(program, framing))
      #expect(try program.wait() == 0, "\(program.errorText)")
    }
  }

  private static func program(_ route: Route, _ options: [String], _ sandbox: Sandbox) throws -> Program {
    let words: [String]
    switch route {
    case .privateOwner, .socket: return try sandbox.privateOwner(options)
    case .connect: words = ["connect"]
    case .serveStdio: words = ["serve", "--stdio"]
    case .servePrivate: words = ["serve", "--stdio", "--private"]
    }
    return try sandbox.start(BuiltPrograms.command, ["--state", sandbox.state] + options + words)
  }
}
