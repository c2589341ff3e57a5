import TestSupport
import Testing

/// The golden conversations, as far as a typed client can say them, through every client package.
@Suite(.standardTimeLimit) struct ClientPackageTests {
  /// Every package; one more is one more line.
  private static let packages = [
    ClientPackage(name: "python", folder: "python"),
    ClientPackage(name: "python, asyncio", folder: "python", environment: ["AUTHBROKER_SHIM": "async"]),
    ClientPackage(name: "node", folder: "node"),
    ClientPackage(name: "go", folder: "go"),
    ClientPackage(name: "emacs", folder: "emacs"),
    ClientPackage(name: "neovim", folder: "neovim"),
  ]

  /// One of them is about messages that no package would send.
  private static let conversations = Conversation.names.filter { $0 != "ping-and-errors" }

  @Test(arguments: packages, conversations)
  func `a conversation goes its way through a package and a running broker`(
    _ package: ClientPackage, _ name: String
  ) async throws {
    try await Self.play(name, package, isRunning: true)
  }

  @Test(arguments: packages, conversations)
  func `a conversation goes its way through a package that starts the broker`(
    _ package: ClientPackage, _ name: String
  ) async throws {
    try await Self.play(name, package, isRunning: false)
  }

  private static func play(_ name: String, _ package: ClientPackage, isRunning: Bool) async throws {
    try await Sandbox.run { sandbox in
      let conversation = try Conversation(named: name)
      sandbox.environment["AUTHBROKER_STATE"] = sandbox.state
      let options = try conversation.configuration.map { try sandbox.configure($0) } ?? []
      sandbox.environment["AUTHBROKER_CONFIG"] = options.last
      if isRunning { _ = try sandbox.owner(options) }
      var player = ConversationPlayer(conversation, with: .embedded(outbox: sandbox.outbox))
      try player.play(on: PackageWire(package, in: sandbox))
    }
  }
}
