import BrokerProtocol
import Synchronization
import TestSupport
import Testing

@testable import LocalProvider

/// A way that does what a test says, and clocks that go on when a test says so.
private final class ScriptedDelivery: Sendable, MessageChannel {
  private struct State {
    var outcomes: [DeliveryFailure?]
    var tries = 0
    var held: [CheckedContinuation<Void, Never>] = []
    var uptime = Duration.zero
    var timers: [(at: Duration, action: @Sendable () -> Void)] = []
  }

  let name = DeliveryConfiguration.Channel.command
  private let isHeld: Bool
  private let state: Mutex<State>

  /// The outcomes of the tries, one after the other; later ones succeed.
  ///
  /// Tries that are held go on with `release`.
  init(_ outcomes: [DeliveryFailure?], isHeld: Bool = false) {
    state = Mutex(State(outcomes: outcomes))
    self.isHeld = isHeld
  }

  var timing: Delivery.Timing {
    var timing = Delivery.Timing()
    timing.uptime = { [self] in state.withLock { $0.uptime } }
    timing.now = { MessageTests.createdAt }
    timing.schedule = { [self] delay, action in state.withLock { $0.timers.append(($0.uptime + delay, action)) } }
    return timing
  }

  var tries: Int { state.withLock { $0.tries } }
  /// When the actions that wait are due.
  var pauses: [Duration] { state.withLock { $0.timers.map(\.at).sorted() } }

  func send(_ message: OutboundMessage) async throws(DeliveryFailure) {
    state.withLock { $0.tries += 1 }
    if isHeld { await withCheckedContinuation { continuation in state.withLock { $0.held.append(continuation) } } }
    if let failure = state.withLock({ $0.outcomes.isEmpty ? nil : $0.outcomes.removeFirst() }) { throw failure }
  }

  func release() {
    let held = state.withLock { state in
      defer { state.held = [] }
      return state.held
    }
    for continuation in held { continuation.resume() }
  }

  /// Lets time pass, and what is due by then happen.
  func advance(_ duration: Duration) {
    let due = state.withLock { state in
      state.uptime += duration
      let now = state.uptime
      let due = state.timers.filter { $0.at <= now }
      state.timers.removeAll { $0.at <= now }
      return due
    }
    for timer in due { timer.action() }
  }
}

@Suite(.standardTimeLimit) struct DeliveryTests {
  private static let down = DeliveryFailure.unreachable("mail.test: the server cannot be reached")

  private func wait(_ condition: @escaping @Sendable () -> Bool) async throws {
    #expect(try await OwnThread.run { Patience.wait { condition() } })
  }

  private func send(_ script: ScriptedDelivery, _ delivery: Delivery, number: Int64 = 1) async throws -> DeliveryState {
    await delivery.send(try MessageTests.text(), number: number, by: script)
  }

  @Test func `a message that is taken is sent once`() async throws {
    let script = ScriptedDelivery([])
    let delivery = Delivery(script.timing)
    #expect(try await send(script, delivery) == .sent)
    #expect(script.tries == 1)
    let report = try #require(delivery.reports.first)
    #expect(delivery.reports.count == 1 && report.channel == .command)
    #expect(report.sent == 1 && report.failed == 0 && report.underWay == 0 && report.lastFailure == nil)
  }

  @Test func `a refusal is told at once and tried no more`() async throws {
    let script = ScriptedDelivery([.refused("no")])
    let delivery = Delivery(script.timing)
    #expect(try await send(script, delivery) == .failed(.refused("no")))
    #expect(script.tries == 1 && script.pauses == [Delivery.patience])
    #expect(delivery.reports.first?.failed == 1 && delivery.reports.first?.lastFailure == "no")
    #expect(delivery.reports.first?.lastFailureAt == MessageTests.createdAt)
  }

  @Test func `a message that is given up is told once, with its way and why`() async throws {
    let script = ScriptedDelivery([nil, .refused("no")])
    let told = Mutex<[String]>([])
    let delivery = Delivery(script.timing) { channel, reason in
      told.withLock { $0.append("\(channel.rawValue): \(reason)") }
    }
    _ = try await send(script, delivery, number: 1)
    _ = try await send(script, delivery, number: 2)
    let lines = told.withLock { $0 }
    #expect(lines == ["command: no"])
  }

  @Test func `a passing trouble is told after the first try, and tried twice more`() async throws {
    let script = ScriptedDelivery([Self.down, Self.down, nil])
    let delivery = Delivery(script.timing)
    #expect(try await send(script, delivery) == .retrying(Self.down))
    #expect(delivery.reports.first?.lastFailure == Self.down.text && delivery.reports.first?.underWay == 1)
    try await wait { script.pauses.first == .milliseconds(500) }
    script.advance(.milliseconds(500))
    try await wait { script.tries == 2 && script.pauses.first == .milliseconds(2500) }
    script.advance(.seconds(2))
    try await wait { delivery.reports.first?.sent == 1 }
    #expect(script.tries == 3)
    #expect(delivery.reports.first?.lastFailure == nil && delivery.reports.first?.underWay == 0)
  }

  @Test func `after three tries a message is given up`() async throws {
    let script = ScriptedDelivery([Self.down, Self.down, Self.down])
    let delivery = Delivery(script.timing)
    #expect(try await send(script, delivery) == .retrying(Self.down))
    for (due, pause) in [(Duration.milliseconds(500), Duration.milliseconds(500)), (.milliseconds(2500), .seconds(2))] {
      try await wait { script.pauses.first == due }
      script.advance(pause)
    }
    try await wait { delivery.reports.first?.failed == 1 }
    #expect(script.tries == 3 && delivery.reports.first?.lastFailure == Self.down.text)
  }

  @Test func `a try that takes long is not waited for, and the message goes on`() async throws {
    let script = ScriptedDelivery([nil], isHeld: true)
    let delivery = Delivery(script.timing)
    async let state = send(script, delivery)
    try await wait { script.tries == 1 && script.pauses == [Delivery.patience] }
    script.advance(Delivery.patience)
    #expect(try await state == .pending)
    try await wait {
      script.release()
      return delivery.reports.first?.sent == 1
    }
  }

  @Test func `no try begins when nobody waits for the code any more`() async throws {
    let script = ScriptedDelivery([Self.down], isHeld: true)
    let delivery = Delivery(script.timing)
    delivery.post(try MessageTests.text(), number: 1, by: script)
    try await wait { script.tries == 1 }
    script.advance(.seconds(10))
    try await wait {
      script.release()
      return delivery.reports.first?.failed == 1
    }
    #expect(script.tries == 1 && script.pauses.isEmpty)
  }

  @Test func `a message that is withdrawn, or whose delivery closes, is not tried again`() async throws {
    for closes in [false, true] {
      let script = ScriptedDelivery([Self.down])
      let delivery = Delivery(script.timing)
      #expect(try await send(script, delivery, number: 7) == .retrying(Self.down))
      try await wait { script.pauses.first == .milliseconds(500) }
      if closes { delivery.close() } else { delivery.withdraw([7]) }
      script.advance(.milliseconds(500))
      try await wait { delivery.reports.first?.failed == 1 }
      #expect(script.tries == 1)
      guard closes else { continue }
      #expect(try await send(script, delivery, number: 8).failure != nil)
    }
  }

  @Test func `messages under way are bounded, and those beyond are told so`() async throws {
    let script = ScriptedDelivery(Array(repeating: Self.down, count: Delivery.capacity))
    let delivery = Delivery(script.timing)
    for number in 1...Int64(Delivery.capacity) {
      #expect(try await send(script, delivery, number: number) == .retrying(Self.down))
    }
    let state = try await send(script, delivery, number: 1000)
    #expect(state == .failed(.unreachable("too many messages are under way")))
    #expect(delivery.reports.first?.underWay == Delivery.capacity && delivery.reports.first?.failed == 1)
    try await wait { script.pauses.count { $0 == .milliseconds(500) } == Delivery.capacity }
    script.advance(.seconds(1))
    try await wait { delivery.reports.first?.underWay == 0 }
  }

  @Test func `a message that is withdrawn keeps its place until its try has ended`() async throws {
    let script = ScriptedDelivery([], isHeld: true)
    let delivery = Delivery(script.timing)
    let numbers = 1...Int64(Delivery.capacity)
    for number in numbers { delivery.post(try MessageTests.text(), number: number, by: script) }
    try await wait { script.tries == Delivery.capacity }
    delivery.withdraw(numbers)
    let refused = try await send(script, delivery, number: 1000)
    #expect(refused == .failed(.unreachable("too many messages are under way")))
    #expect(script.tries == Delivery.capacity)
    try await wait {
      script.release()
      return delivery.reports.first?.underWay == 0
    }
    delivery.post(try MessageTests.text(), number: 1001, by: script)
    try await wait {
      script.release()
      return delivery.reports.first?.sent == Delivery.capacity + 1
    }
  }

  @Test func `what has no way of its own goes to the outbox`() {
    let delivery = Delivery()
    #expect(delivery.channel(for: .sms) == nil && delivery.channel(for: .email) == nil)
    delivery.use([.sms: ScriptedDelivery([])])
    #expect(delivery.channel(for: .sms) != nil && delivery.channel(for: .email) == nil)
  }
}
