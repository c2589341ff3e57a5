import BrokerCore
import BrokerProtocol
import Synchronization
import TestSupport
import Testing

@testable import LocalProvider

/// Keeps every message that it gets, unless it is dead.
private final class KeepingChannel: Sendable, MessageChannel {
  private struct State {
    var messages: [OutboundMessage] = []
    var isDead = false
  }

  let name = DeliveryConfiguration.Channel.command
  private let state = Mutex(State())
  var messages: [OutboundMessage] { state.withLock { $0.messages } }

  func setDead(_ isDead: Bool) { state.withLock { $0.isDead = isDead } }

  func send(_ message: OutboundMessage) async throws(DeliveryFailure) {
    try state.withLock { state throws(DeliveryFailure) in
      guard !state.isDead else { throw .refused("the server is not there") }
      state.messages.append(message)
    }
  }
}

@Suite(.standardTimeLimit) struct LocalProviderDeliveryTests {
  @Test func `a code that another way has sent logs in, and no file is written`() async throws {
    let channel = KeepingChannel()
    try await ProviderFixture.run { fixture in
      fixture.provider.delivery.use([.sms: channel])
      let challenge = try await fixture.challenge()
      let message = try #require(channel.messages.first)
      #expect(message.recipient == "+491511234567" && message.method == .sms)
      #expect(fixture.outbox.isEmpty)
      let code = try #require(message.content.code)
      _ = try await fixture.provider.verifyOTP(flow: challenge.flow, code: code)
      #expect(try await fixture.number("SELECT count(*) FROM message") == 0)
    }
  }

  @Test func `a dead channel is told in the reports and to who asks for another code, and the login goes on`()
    async throws
  {
    let channel = KeepingChannel()
    channel.setDead(true)
    try await ProviderFixture.run { fixture in
      let delivery = fixture.provider.delivery
      delivery.use([.sms: channel])
      let challenge = try await fixture.challenge()
      #expect(delivery.reports.first?.failed == 1)
      #expect(delivery.reports.first?.lastFailure == "the server is not there")
      fixture.clock.advance(.seconds(30))
      #expect(await resend(fixture, challenge) == .transient(.providerUnavailable, retryAfter: .seconds(30)))
      #expect(await resend(fixture, challenge) == .refused(.resendTooSoon, retryAfter: .seconds(30)))
      channel.setDead(false)
      fixture.clock.advance(.seconds(30))
      #expect(await resend(fixture, challenge) == nil)
      let code = try #require(channel.messages.first?.content.code)
      #expect(await fixture.verify(challenge, code) == nil)
    }
  }

  @Test func `a login whose code cannot be delivered is finished with a backup code`() async throws {
    let channel = KeepingChannel()
    channel.setDead(true)
    try await ProviderFixture.run { fixture in
      let session = try await fixture.session(secondFactor: .sms)
      let backupCode = try #require(try await fixture.backupCodes(session).first)
      fixture.provider.delivery.use([.sms: channel])
      let challenge = try await fixture.login()
      #expect(challenge.backupCodesAllowed)
      fixture.clock.advance(.seconds(30))
      #expect(await resend(fixture, challenge)?.kind == .providerUnavailable)
      #expect(await fixture.verify(challenge, backupCode: backupCode) == nil)
    }
  }

  private func resend(_ fixture: ProviderFixture, _ challenge: ProviderChallenge) async -> ProviderFailure? {
    await failure { () throws(ProviderFailure) in try await fixture.provider.resendOTP(flow: challenge.flow) }
  }
}
