import BrokerCore
import BrokerProtocol
import ProviderKit
import SecretMemory
import Synchronization
import TestSupport

/// One life of the broker: from a start to a crash.
struct BrokerLife {
  /// The settings of one profile.
  struct Profile {
    /// Its name.
    var name: ProfileName
    /// The address of its provider.
    var issuer = "a.example"
    /// What holds for its sessions.
    var rules = SessionRules()
    /// Whether its provider ends all of a user's sessions with one of them.
    var endsWholeGrants = false
    /// Whether another broker has its session as well.
    var isShared = false
    /// The requests that its clients may have sent.
    var requests: RequestSettings?
  }

  /// Counts the lives.
  let number: Int
  /// Its clock.
  let clock: SimulatedClock
  /// What it asks providers.
  let providers: Wire<ProviderRequest, ProviderAnswer>
  /// What it asks its store.
  let storage: Wire<StoreQuestion, StoreAnswer>
  /// What has happened in it.
  let inbox = Inbox()
  /// Its view of the disk.
  let store: SimulatedStore
  /// Its view of what it shares with another broker.
  let records: SharedStore
  /// The broker.
  let broker: Broker

  /// A life on a disk; questions are counted on from `before`.
  init(
    _ number: Int, _ profiles: [Profile], _ disk: InMemoryStore, _ shared: SharedDisk, _ executor: TurnedExecutor,
    _ clock: SimulatedClock,
    _ entropy: SimulatedEntropy, asked: (providers: Int, storage: Int)
  ) {
    self.number = number
    self.clock = clock
    let providers = Wire<ProviderRequest, ProviderAnswer>(after: asked.providers)
    self.providers = providers
    storage = Wire(after: asked.storage)
    store = SimulatedStore(disk, storage, inbox)
    records = SharedStore(shared, member: number, clock, storage, inbox)
    let records = self.records
    broker = Broker(
      executor: executor, profiles: profiles.map { Self.settings($0, providers, records) }, store: store,
      status: disk.statusNow, clock: clock, entropy: entropy, trials: ProviderTrial.self)
  }

  private static func settings(
    _ profile: Profile, _ wire: Wire<ProviderRequest, ProviderAnswer>, _ records: SharedStore
  ) -> ProfileSettings {
    ProfileSettings(
      name: profile.name,
      provider: SimulatedProvider(
        profile.name, issuer: profile.issuer, habit: profile.endsWholeGrants ? .grant : .token, wire),
      rules: profile.rules, requests: profile.requests, records: profile.isShared ? records : nil)
  }

  /// Begins; what is asked of the store comes over the wire.
  func begin() { Self.begin(broker, store, inbox) }

  /// Begins a broker on its own executor; what it tells comes to an inbox.
  static func begin(_ broker: Broker, _ store: SimulatedStore, _ inbox: Inbox) {
    broker.assumeIsolated { broker in
      broker.beginSoon(store) { notice in
        switch notice {
        case .answer(let answer, let caller): inbox.add(.answered(Int(caller.number), Inbox.Answer(answer)))
        case .subscribed(let begun):
          let missed = begun.missed.map(\.event)
          inbox.add(.answered(Int(begun.caller.number), .subscribed(begun.result, missed: missed)))
        case .delivery(let delivery): inbox.add(.delivered(delivery))
        case .problem(let problem): inbox.add(.problem(problem))
        case .missed, .used, .told, .consentAsked, .consentDecided, .locked, .idle, .audit: break
        }
      }
    }
  }

  /// Takes up another configuration.
  func reconfigure(_ profiles: [Profile]) {
    let settings = profiles.map { Self.settings($0, providers, records) }
    let inbox = inbox
    broker.assumeIsolated { $0.reconfigureSoon(settings) { inbox.add(.reconfigured($0)) } }
  }
}

extension Broker {
  /// Starts on the broker's own executor, which the simulation turns.
  fileprivate func beginSoon(_ store: SimulatedStore, _ notify: @escaping @Sendable (BrokerNotice) -> Void) {
    Task {
      try? await store.unlock(nil)
      await start(with: try? store.load(), notify: notify)
    }
  }

  fileprivate func reconfigureSoon(_ profiles: [ProfileSettings], _ done: @escaping @Sendable (StoreFailure?) -> Void) {
    Task {
      do throws(StoreFailure) {
        try await reconfigure(profiles)
        done(nil)
      } catch {
        done(error)
      }
    }
  }
}

/// Handles and jitter that are the same for the same seed.
final class SimulatedEntropy: Entropy {
  private let state: Mutex<(random: SeededGenerator, handles: Int)>

  /// The sequence of a seed.
  init(seed: UInt64) { state = Mutex((SeededGenerator(seed: seed), 0)) }

  func handle() -> String {
    state.withLock { state in
      state.handles += 1
      return "handle-\(state.handles)"
    }
  }

  func tokenID(of token: Secret) -> String { "id-\(token.revealedString() ?? "")" }

  func digest(of contents: [UInt8]) -> String { String(decoding: contents, as: UTF8.self) }

  func fraction() -> Double { state.withLock { Double.random(in: 0...1, using: &$0.random) } }
}
