import BrokerProtocol
import TestSupport
import Testing

@testable import BrokerCore

@Suite(.standardTimeLimit) struct NetworkStateTests {
  /// Every state and every event: the state that follows, and what is done.
  private static let table: [(NetworkState, NetworkState.Event, NetworkState, [NetworkState.Action])] = [
    (.up, .answered, .up, []), (.up, .notReached, .down, [.tellDown]), (.up, .unclear, .up, []),
    (.down, .answered, .up, [.tellUp, .letOthersTry]), (.down, .notReached, .down, []), (.down, .unclear, .down, []),
  ]

  @Test(arguments: table.indices)
  func `each change is told once, and only a call that tells something changes anything`(_ row: Int) {
    let (before, event, after, actions) = Self.table[row]
    var state = before
    let done = state.handle(event)
    #expect(done == actions)
    #expect(state == after)
  }

  @Test func `the table is complete`() {
    #expect(Self.table.count == 2 * NetworkState.Event.allCases.count)
  }

  @Test(
    arguments: [
      (nil, .answered), (.transient(.networkUnavailable), .notReached), (.transient(.timeout), .notReached),
      (.outcomeUnknown(.networkUnavailable), .notReached), (.outcomeUnknown(.timeout), .unclear),
      (.transient(.tlsFailed), .unclear), (.transient(.tlsPinMismatch), .unclear), (.transient(.cancelled), .unclear),
      (.outcomeUnknown(.cancelled), .unclear), (.transient(.overloaded), .unclear),
      (.transient(.shuttingDown), .unclear), (.transient(.internal), .unclear), (.unsupported, .unclear),
      (.transient(.providerUnavailable, retryAfter: .seconds(9)), .answered), (.transient(.rateLimited), .answered),
      (.transient(.invalidResponse), .answered), (.outcomeUnknown(.invalidResponse), .answered),
      (.refused(.invalidCredentials), .answered), (.sessionEnded(.refreshRejected), .answered),
      (.reauthenticationRequired, .answered), (.tokenRefused, .answered), (.misconfigured(.client), .answered),
      (.misconfigured(.redirectPort), .unclear), (.credentialMissing(MissingCredential("x", "y")), .unclear),
    ] as [(ProviderFailure?, NetworkState.Event)])
  func `a call tells of the network by how it failed`(_ failure: ProviderFailure?, _ event: NetworkState.Event) {
    #expect(NetworkState.Event(failure) == event)
  }
}

@Suite(.standardTimeLimit) struct ProviderClockTests {
  @Test func `a difference is told once, and once more when it changes or ends`() {
    var clock = ProviderClock()
    let steps: [(Int?, Bool, Int?)] = [
      (nil, false, nil), (0, false, nil), (60, false, nil), (-60, false, nil), (61, true, 61), (61, false, 61),
      (121, false, 61), (122, true, 122), (nil, false, 122), (-3600, true, -3600), (60, true, nil), (0, false, nil),
    ]
    for (seen, isNews, told) in steps {
      let wasNews = clock.note(seen.map { .seconds($0) })
      #expect(wasNews == isNews)
      #expect(clock.skew == told.map { .seconds($0) })
    }
  }

  @Test func `a clock that was set is judged anew`() {
    var clock = ProviderClock()
    _ = clock.note(.seconds(3600))
    clock.forget()
    #expect(clock.skew == nil)
    let isNews = clock.note(.zero)
    #expect(!isNews)
  }
}

/// What is learnt of providers, and for how long.
@Suite(.standardTimeLimit) struct ProviderViewsTests {
  @Test func `what was learnt of a provider stays known as long as a profile has it`() {
    let provider = ScriptedProvider(clock: ManualClock(), gate: GateExecutor { $0() })
    func slot(_ number: UInt64) -> ProfileSlot {
      let settings = ProfileSettings(name: .default, provider: provider)
      let machine = SessionMachine(
        profile: .default, binding: provider.binding, rules: settings.rules, tokenID: { _ in "id" })
      return ProfileSlot(number, settings, machine)
    }
    let (first, second, third) = (slot(0), slot(1), slot(2))
    var views = ProviderViews()
    views.assign(to: [first])
    views.assign(to: [second])
    #expect(second.view === first.view)
    views.assign(to: [])
    views.assign(to: [third])
    #expect(third.view !== first.view)
  }
}
