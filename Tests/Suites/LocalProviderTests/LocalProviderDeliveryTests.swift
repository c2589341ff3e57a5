import BrokerCore
import BrokerProtocol
import Synchronization
import TestSupport
import Testing

@testable import LocalProvider

/// Keeps the code of every message that it gets.
private final class KeepingChannel: Sendable, MessageChannel {
  let name = DeliveryConfiguration.Channel.command
  private let kept = Mutex<[OutboundMessage]>([])
  var messages: [OutboundMessage] { kept.withLock { $0 } }

  func send(_ message: OutboundMessage) async throws(DeliveryFailure) { kept.withLock { $0.append(message) } }
}

@Suite(.standardTimeLimit) struct LocalProviderDeliveryTests {
  @Test func `a code that another way has sent logs in, and no file is written`() async throws {
    let channel = KeepingChannel()
    try await ProviderFixture.run { fixture in
      fixture.provider.delivery.use([.sms: channel])
      let challenge = try await fixture.challenge()
      #expect(try await OwnThread.run { Patience.wait { channel.messages.count == 1 } })
      let message = try #require(channel.messages.first)
      #expect(message.recipient == "+491511234567" && message.method == .sms)
      #expect(fixture.outbox.isEmpty)
      let code = try #require(message.content.code)
      _ = try await fixture.provider.verifyOTP(flow: challenge.flow, code: code)
      #expect(try await fixture.number("SELECT count(*) FROM message") == 0)
    }
  }
}
