import AuthBrokerClient
import BrokerProtocol
import JSON
import LinuxSystem
import TestSupport
import Testing

/// The golden conversations, as far as a typed client can say them, through the Swift library.
@Suite(.standardTimeLimit) struct ClientLibraryTests {
  /// One of them is about messages that no library would send.
  private static let names = Conversation.names.filter { $0 != "ping-and-errors" }

  @Test(arguments: names)
  func `a conversation goes its way through a private broker of the library`(_ name: String) async throws {
    try await Sandbox.run { sandbox in
      let conversation = try Conversation(named: name)
      if let text = conversation.configuration { _ = try sandbox.configure(text) }
      let (state, file) = (sandbox.state, conversation.configuration.map { _ in sandbox.root + "/config.json" })
      var player = ConversationPlayer(conversation, with: .embedded(outbox: sandbox.outbox))
      try player.play(
        on: LibraryWire {
          try await BrokerClient.launch(
            PrivateBroker(state: state, configuration: file, program: BuiltPrograms.daemon))
        })
    }
  }

  @Test(arguments: names)
  func `a conversation goes its way through the library and a shared broker`(_ name: String) async throws {
    try await Sandbox.run { sandbox in
      let conversation = try Conversation(named: name)
      _ = try sandbox.owner(try conversation.configuration.map { try sandbox.configure($0) } ?? [])
      let state = sandbox.state
      var player = ConversationPlayer(conversation, with: .embedded(outbox: sandbox.outbox))
      try player.play(
        on: LibraryWire { try await BrokerClient.connect(to: BrokerLocation(state: state, startsBroker: false)) })
    }
  }
}
