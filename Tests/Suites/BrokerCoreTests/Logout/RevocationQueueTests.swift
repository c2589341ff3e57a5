import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// The queue as a table: what is sent when, and how each revocation ends.
@Suite(.standardTimeLimit) struct RevocationQueueTests {
  private static let start = Timestamp(milliseconds: 1_800_000_000_000)
  private static let binding = ProviderBinding(type: "x", issuer: "https://id.example")
  private static let first = PendingRevocation.ID(profile: .default, number: 1)

  private static func at(_ seconds: Int) -> Moment {
    Moment(wall: start + .seconds(seconds), uptime: .seconds(1_000 + seconds))
  }

  private static func revocation(_ number: UInt64, _ profile: ProfileName = .default) -> PendingRevocation {
    PendingRevocation(
      id: PendingRevocation.ID(profile: profile, number: number), binding: binding,
      tokens: ScriptedProvider.tokens(Int(number), now: start), everywhere: false, startedAt: start)
  }

  private static func profile(_ name: String) throws -> ProfileName { try #require(ProfileName(name)) }

  /// A queue over an open store, with the profile `default` and perhaps others.
  private static func open(_ others: ProfileName...) -> RevocationQueue {
    var queue = RevocationQueue()
    let bindings = Dictionary(([.default] + others).map { ($0, binding) }) { first, _ in first }
    _ = queue.handle(.configured(bindings), at: at(0))
    _ = queue.handle(.opened([]), at: at(0))
    return queue
  }

  /// Where the revocation 1 of `default` can stand.
  enum State: CaseIterable, Sendable {
    case unknown, underWay, resting, restingKept, closedResting, unconfigured

    var queue: RevocationQueue {
      var queue = RevocationQueueTests.open()
      if self == .unknown { return queue }
      if self == .unconfigured { _ = queue.handle(.configured([:]), at: at(0)) }
      _ = queue.handle(.wanted(revocation(1), isBeingKept: true), at: at(0))
      if self == .underWay || self == .unconfigured { return queue }
      _ = queue.handle(.failed(first, retryAfter: nil, jitter: 1), at: at(0))
      if self == .restingKept { _ = queue.handle(.kept(first), at: at(0)) }
      if self == .closedResting { _ = queue.handle(.closed, at: at(0)) }
      return queue
    }
  }

  /// Everything that can happen, ten seconds later or when patience has ended.
  enum Happening: CaseIterable, Sendable {
    case configured, unconfigured, opened, closed, dropped, wanted, kept, ended, failed, networkReturned, woken, late,
      held, providerReturned

    var event: RevocationQueue.Event {
      switch self {
      case .configured: .configured([.default: binding])
      case .unconfigured: .configured([.default: ProviderBinding(type: "x", issuer: "https://other.example")])
      case .opened: .opened([revocation(1)])
      case .closed: .closed
      case .dropped: .dropped
      case .wanted: .wanted(revocation(1), isBeingKept: false)
      case .kept: .kept(first)
      case .ended: .ended(first, .yes)
      case .failed: .failed(first, retryAfter: .seconds(7), jitter: 0.5)
      case .networkReturned: .networkReturned
      case .woken, .late: .woken
      case .held: .held(first)
      case .providerReturned: .providerReturned(binding)
      }
    }
  }

  private static let nothing: [String] = []
  private static let givenUp = ["give up 1", "answer 1 no", "forget 1"]

  /// What is done for each event, in the order of ``Happening``.
  private static let table: [State: [[String]]] = [
    .unknown: [
      nothing, nothing, ["send 1"], nothing, nothing, ["keep 1", "send 1"], nothing, nothing, nothing, nothing,
      nothing, nothing, nothing, nothing,
    ],
    .underWay: [
      nothing, nothing, nothing, nothing, nothing, nothing, nothing, ["answer 1 yes", "forget 1"],
      ["answer 1 pending", "keep 1"], nothing, nothing, nothing, ["answer 1 pending", "keep 1"], nothing,
    ],
    .resting: [
      ["send 1"], nothing, ["send 1"], nothing, nothing, nothing, nothing, ["answer 1 yes", "forget 1"],
      ["send 1"], ["send 1"], ["send 1"], givenUp, ["send 1"], ["send 1"],
    ],
    .restingKept: [
      ["send 1"], nothing, ["send 1"], nothing, nothing, nothing, nothing, ["answer 1 yes", "forget 1"],
      ["send 1"], ["send 1"], ["send 1"], givenUp, ["send 1"], ["send 1"],
    ],
    .closedResting: [
      nothing, nothing, ["send 1"], nothing, nothing, nothing, nothing, ["answer 1 yes", "forget 1"], nothing,
      nothing, nothing, nothing, nothing, nothing,
    ],
    .unconfigured: [
      ["send 1"], nothing, nothing, nothing, nothing, nothing, nothing, ["answer 1 yes", "forget 1"], nothing,
      nothing, nothing, givenUp, nothing, nothing,
    ],
  ]

  @Test(arguments: State.allCases)
  func `every event is legal in every state`(_ state: State) throws {
    let expected = try #require(Self.table[state])
    #expect(expected.count == Happening.allCases.count)
    for (happening, actions) in zip(Happening.allCases, expected) {
      var queue = state.queue
      let seconds = happening == .late ? 86_400 : 10
      #expect(queue.handle(happening.event, at: Self.at(seconds)).summary == actions, "\(happening)")
    }
  }

  @Test func `waits grow with jitter, and a provider's own wish is a floor`() {
    var queue = Self.open()
    _ = queue.handle(.wanted(Self.revocation(1), isBeingKept: true), at: Self.at(0))
    for bound in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
      let failed = queue.handle(.failed(Self.first, retryAfter: nil, jitter: 1), at: Self.at(0))
      #expect(failed.summary.first == "answer 1 pending")
      #expect(queue.nextWake == .seconds(1_000 + bound))
      #expect(queue.handle(.networkReturned, at: Self.at(0)).summary == ["send 1"])
    }
    _ = queue.handle(.failed(Self.first, retryAfter: .seconds(900), jitter: 0), at: Self.at(0))
    #expect(queue.nextWake == .seconds(1_900))
    #expect(queue.handle(.woken, at: Self.at(899)).isEmpty)
    #expect(queue.handle(.woken, at: Self.at(900)).summary == ["send 1"])
  }

  @Test func `one that is held keeps nobody waiting and no broker alive, and goes on with the next success`() {
    var queue = Self.open()
    _ = queue.handle(.wanted(Self.revocation(1), isBeingKept: false), at: Self.at(0))
    #expect(queue.handle(.held(Self.first), at: Self.at(0)).summary == ["answer 1 pending", "keep 1"])
    #expect(!queue.isWorthWaiting(at: Self.at(0)) && queue.nextWake.map { $0 <= .seconds(1_060) } == true)
    #expect(queue.handle(.woken, at: Self.at(59)).isEmpty)
    #expect(queue.handle(.woken, at: Self.at(60)).summary == ["send 1"])
    _ = queue.handle(.held(Self.first), at: Self.at(60))
    let second = PendingRevocation.ID(profile: .default, number: 2)
    #expect(queue.handle(.wanted(Self.revocation(2), isBeingKept: true), at: Self.at(61)).summary == ["send 2"])
    #expect(queue.handle(.ended(second, .yes), at: Self.at(61)).summary == ["answer 2 yes", "forget 2", "send 1"])
  }

  @Test func `one of a profile is under way at a time, and others do not wait for it`() throws {
    let work = try Self.profile("work")
    var queue = Self.open(work)
    #expect(queue.handle(.wanted(Self.revocation(1), isBeingKept: true), at: Self.at(0)).summary == ["send 1"])
    #expect(queue.handle(.wanted(Self.revocation(2), isBeingKept: true), at: Self.at(0)).isEmpty)
    #expect(queue.handle(.wanted(Self.revocation(3, work), isBeingKept: true), at: Self.at(0)).summary == ["send 3"])
    // The first rests after its failure; the second need not.
    let failed = queue.handle(.failed(Self.first, retryAfter: nil, jitter: 1), at: Self.at(0))
    #expect(failed.summary == ["answer 1 pending", "keep 1", "send 2"])
    // The provider is there again: the first is tried at once.
    let second = PendingRevocation.ID(profile: .default, number: 2)
    let ended = queue.handle(.ended(second, .no), at: Self.at(0))
    #expect(ended.summary == ["answer 2 no", "forget 2", "send 1"])
    #expect(queue.count == 2 && queue.isPending(.default) && queue.isPending(work))
  }

  @Test func `nothing is sent to another provider, and it is tried when the old one comes back`() {
    var queue = Self.open()
    let other = ProviderBinding(type: "x", issuer: "https://other.example")
    _ = queue.handle(.configured([.default: other]), at: Self.at(0))
    #expect(queue.handle(.wanted(Self.revocation(1), isBeingKept: false), at: Self.at(0)).summary == ["keep 1"])
    for event in [RevocationQueue.Event.woken, .networkReturned, .configured([:])] {
      #expect(queue.handle(event, at: Self.at(3_600)).isEmpty)
    }
    #expect(!queue.isWorthWaiting(at: Self.at(0)))
    #expect(queue.nextWake == .seconds(1_000 + 86_400))
    #expect(queue.handle(.configured([.default: Self.binding]), at: Self.at(7_200)).summary == ["send 1"])
  }

  @Test func `patience counts from the logout, across restarts, and does not follow a clock that is set`() {
    var queue = RevocationQueue()
    _ = queue.handle(.configured([.default: Self.binding]), at: Self.at(0))
    let restarted = Moment(wall: Self.start + .seconds(86_000), uptime: .seconds(5))
    #expect(queue.handle(.opened([Self.revocation(1)]), at: restarted).summary == ["send 1"])
    _ = queue.handle(.failed(Self.first, retryAfter: .seconds(3_000), jitter: 1), at: restarted)
    #expect(queue.nextWake == .seconds(405))
    // Set back by a year, the clock does not prolong it.
    let over = Moment(wall: Self.start + .seconds(-31_536_000), uptime: .seconds(405))
    #expect(queue.handle(.woken, at: over).summary == Self.givenUp)
    #expect(queue.count == 0 && queue.nextWake == nil)
    // Nor does a logout that seems to lie in the future.
    let early = Moment(wall: Self.start + .seconds(-31_536_000), uptime: .seconds(500))
    _ = queue.handle(.configured([:]), at: early)
    _ = queue.handle(.opened([Self.revocation(1)]), at: early)
    #expect(queue.nextWake == .seconds(500 + 86_400))
  }

  @Test func `one whose time ended while nobody ran is not sent any more`() {
    var queue = RevocationQueue()
    _ = queue.handle(.configured([.default: Self.binding]), at: Self.at(90_000))
    #expect(queue.handle(.opened([Self.revocation(1)]), at: Self.at(90_000)).summary == Self.givenUp)
  }

  @Test func `a profile has a bounded number, and the oldest goes first`() {
    var queue = Self.open()
    for number in 1...UInt64(RevocationQueue.limitPerProfile) {
      _ = queue.handle(.wanted(Self.revocation(number), isBeingKept: true), at: Self.at(0))
    }
    let more = queue.handle(.wanted(Self.revocation(99), isBeingKept: true), at: Self.at(0))
    // The first is under way, so the second is the oldest that can go.
    #expect(more.summary == ["give up 2", "answer 2 no", "forget 2"])
    #expect(queue.count == RevocationQueue.limitPerProfile)
  }

  @Test func `names are never those of what rests already`() {
    var queue = Self.open()
    _ = queue.handle(.opened([Self.revocation(41)]), at: Self.at(0))
    #expect(queue.nextID(of: .default).number == 42)
    _ = queue.handle(.dropped, at: Self.at(0))
    #expect(queue.nextID(of: .default).number == 43)
  }

  @Test func `only what may soon be done keeps a broker alive`() {
    var queue = Self.open()
    #expect(!queue.isWorthWaiting(at: Self.at(0)))
    _ = queue.handle(.wanted(Self.revocation(1), isBeingKept: true), at: Self.at(0))
    _ = queue.handle(.failed(Self.first, retryAfter: nil, jitter: 1), at: Self.at(0))
    #expect(queue.isWorthWaiting(at: Self.at(899)) && !queue.isWorthWaiting(at: Self.at(900)))
    _ = queue.handle(.closed, at: Self.at(0))
    #expect(!queue.isWorthWaiting(at: Self.at(0)) && queue.nextWake == nil)
  }

  @Test func `what is not durable yet is given to whoever saves next`() {
    var queue = Self.open()
    _ = queue.handle(.wanted(Self.revocation(1), isBeingKept: true), at: Self.at(0))
    #expect(queue.unkept(of: .default) == [Self.revocation(1)])
    _ = queue.handle(.kept(Self.first), at: Self.at(0))
    #expect(queue.unkept(of: .default).isEmpty)
    let failed = queue.handle(.failed(Self.first, retryAfter: nil, jitter: 1), at: Self.at(0))
    #expect(failed.summary == ["answer 1 pending"])
  }
}

extension [RevocationQueue.Action] {
  /// The actions in words.
  fileprivate var summary: [String] {
    map { action in
      switch action {
      case .send(let revocation): "send \(revocation.id.number)"
      case .keep(let revocation): "keep \(revocation.id.number)"
      case .forget(let id): "forget \(id.number)"
      case .answer(let id, let outcome): "answer \(id.number) \(outcome.rawValue)"
      case .giveUp(let id): "give up \(id.number)"
      }
    }
  }
}
