import BrokerCore
import BrokerProtocol
import Glibc
import Sealing
import SecretMemory
import TestSupport
import Testing

@testable import LocalProvider

/// Messages hold a code and a whole phone number: none stays longer than its code is good.
@Suite(.standardTimeLimit) struct OutboxExpiryTests {
  private static func configuration(_ lifetime: Duration) -> LocalProviderConfiguration {
    var configuration = LocalProviderConfiguration()
    configuration.otp.lifetime = lifetime
    return configuration
  }

  private static func register(_ provider: LocalProvider, _ name: String = "b") async throws {
    let password = try Secret(utf8: ProviderFixture.password)
    _ = try await provider.register(
      Registration(email: "\(name)@example.com", password: password, phoneNumber: "+491511234567"))
  }

  @Test func `a message goes when its code expires, though nothing is asked`() async throws {
    try Sealing.initialize()
    let key = try SealingKey.random()
    let scratch = Scratch()
    let provider = LocalProvider(
      stateDirectory: scratch.path, configuration: Self.configuration(.milliseconds(400)),
      passwordHash: .smallest, sealingKey: { key })
    try await Self.register(provider)
    try await Self.register(provider, "c")
    let isEmpty = try await OwnThread.run {
      Patience.wait { scratch.names(in: "local-provider/outbox").isEmpty }
    }
    #expect(isEmpty)
    await provider.shutDown()
  }

  @Test func `what expired while no process ran goes at the start, and what has not stays till then`() async throws {
    try Sealing.initialize()
    let key = try SealingKey.random()
    let scratch = Scratch()
    let clock = ProviderFixture.ManualClock()
    func provider() -> LocalProvider {
      LocalProvider(
        stateDirectory: scratch.path, configuration: Self.configuration(.seconds(300)), passwordHash: .smallest,
        sealingKey: { key }, clock: { clock.now })
    }
    let first = provider()
    try await Self.register(first)
    // As a process leaves it that is killed while it writes.
    try scratch.write("+491511234567", to: "local-provider/outbox/.00000001.json.new")
    await first.shutDown()
    let second = provider()
    await second.start()
    await second.shutDown()
    #expect(scratch.names(in: "local-provider/outbox").count == 2, "the code is good still")
    clock.advance(.seconds(300))
    let third = provider()
    await third.start()
    await third.shutDown()
    #expect(scratch.names(in: "local-provider/outbox").isEmpty)
  }

  @Test func `a replaced message whose file outlived a killed process is removed at the start`() async throws {
    try await ProviderFixture.run { fixture in
      _ = try await fixture.session()
      try await fixture.provider.forgotPassword(email: "a@example.com")
      let replaced = try fixture.contents("outbox/00000001.json")
      try await fixture.provider.forgotPassword(email: "a@example.com")
      #expect(fixture.outbox == ["00000002.json"])
      await fixture.provider.shutDown()
      try fixture.overwrite("outbox/00000001.json", with: String(decoding: replaced, as: UTF8.self))
      let second = fixture.successor()
      await second.start()
      await second.shutDown()
      #expect(fixture.outbox == ["00000002.json"])
    }
  }

  @Test func `a start makes no files where there are none`() async throws {
    try Sealing.initialize()
    let key = try SealingKey.random()
    let scratch = Scratch()
    let provider = LocalProvider(
      stateDirectory: scratch.path, configuration: Self.configuration(.seconds(300)), passwordHash: .smallest,
      sealingKey: { key })
    await provider.start()
    await provider.shutDown()
    #expect(scratch.names(in: "").isEmpty)
  }
}
