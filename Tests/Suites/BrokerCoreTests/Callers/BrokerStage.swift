import BrokerCore
import BrokerProtocol
import LinuxSystem
import ProviderKit
import SecretMemory
import Synchronization
import TestSupport

/// A broker without a server: requests are calls, and answers are values.
///
/// Everything runs on the thread of the test, and only when it is turned.
final class BrokerStage {
  let clock = ManualClock()
  let provider: ScriptedProvider
  let broker: Broker
  private let store = InMemoryStore()
  private let executor = TurnedExecutor(isDeterministic: false)
  private let posted = Posted()
  private let told = Told()
  private var requestCount: UInt64 = 0

  /// A broker with one profile, or these besides, which has started.
  ///
  /// - Parameters:
  ///   - others: the names of the other profiles, each on a provider of its own.
  ///   - rules: where the token of the first profile may go.
  ///   - prepare: gets each of their providers first.
  init(
    _ others: [ProfileName] = [], rules: RequestRules? = nil,
    _ prepare: (ProfileName, ScriptedProvider) -> Void = { _, _ in }
  ) {
    let (posted, clock) = (self.posted, self.clock)
    provider = ScriptedProvider(clock: clock, gate: GateExecutor { posted.add($0) })
    var settings = [ProfileSettings(name: .default, provider: provider)]
    settings[0].requests = rules.map { RequestSettings($0, NoSender()) }
    for name in others {
      let other = ScriptedProvider(clock: clock, gate: GateExecutor { posted.add($0) }, type: name.description)
      prepare(name, other)
      settings.append(ProfileSettings(name: name, provider: other))
    }
    broker = Broker(
      executor: executor, profiles: settings, store: store,
      status: store.statusNow, clock: clock, entropy: SimulatedEntropy(seed: 1),
      trials: ProviderTrial.self)
    let (store, told) = (self.store, self.told)
    broker.assumeIsolated { $0.startSoon(store) { told.add($0) } }
    turn()
  }

  /// Makes a request.
  ///
  /// - Returns: its caller.
  func ask<Value>(_ need: VaultNeed = .throughout, _ method: @escaping Broker.Method<Value>) -> CallerID {
    requestCount += 1
    let caller = CallerID(requestCount)
    broker.assumeIsolated { $0.receive(Caller<Value>(caller, as: .broker), need, method) }
    turn()
    return caller
  }

  /// Begins a login with the right password.
  func logIn() -> CallerID {
    let params = Login.Params(email: "a@example.test", password: ScriptedProvider.secret("right"))
    return ask { broker, caller throws(BrokerError) in try broker.login(params, caller) }
  }

  /// Asks for a token.
  func token(_ params: GetAccessToken.Params = GetAccessToken.Params()) -> CallerID {
    ask { broker, caller throws(BrokerError) in try broker.accessToken(params, caller) }
  }

  /// Begins a subscription to the events of a profile.
  func subscribe(to profile: ProfileName) -> CallerID {
    requestCount += 1
    let caller = CallerID(requestCount)
    broker.assumeIsolated {
      $0.subscribe(Subscribe.Params(profiles: [profile]), client: ClientID(1), Caller(caller, as: .broker))
    }
    turn()
    return caller
  }

  /// Asks for the token of a profile.
  func token(of profile: ProfileName) -> CallerID { token(GetAccessToken.Params(profile: profile)) }

  /// Logs out of a profile.
  func logOut(of profile: ProfileName) -> CallerID {
    ask { broker, caller throws(BrokerError) in try broker.logout(Logout.Params(profile: profile), caller) }
  }

  /// Where the session of a profile stands.
  func state(of profile: ProfileName) -> Session.State? {
    broker.assumeIsolated { $0.sessions(for: .broker).first { $0.profile == profile }?.state }
  }

  /// What a caller was given, as far as it is a token.
  func tokens(to caller: CallerID) -> [String] { told.tokens(to: caller) }

  /// Locks the vault.
  func lock() -> CallerID { ask(.never) { broker, caller in broker.lock(caller) } }

  /// Where the session stands.
  var state: Session.State? { broker.assumeIsolated { $0.sessions(for: .broker).first?.state } }

  /// The errors that a caller was told.
  func errors(to caller: CallerID) -> [BrokerError] { told.errors(to: caller) }

  /// What a caller was told so far: `token`, `subscribed`, the kind of an error, or the type of a result.
  func answers(to caller: CallerID) -> [String] { told.answers(to: caller) }

  /// Lets everything happen that can happen without time passing.
  ///
  /// A continuation may come back by way of another thread: work that the provider does not hold is waited for.
  func turn() {
    let deadline = Patience.end
    repeat { while executor.turn() || posted.run() {} } while isWaiting && BootClock.now < deadline
  }

  private var isWaiting: Bool { !provider.isHolding && broker.assumeIsolated { $0.isWaiting } }
}

/// Sends nothing: the requests of a door take another way.
private struct NoSender: APISender {
  func send(_ request: APIRequest, with loan: LentToken) async throws(ProviderFailure) -> APIAnswer {
    throw .unsupported
  }
}

/// What other executors want to be run on the thread of the test.
private final class Posted: Sendable {
  private let actions = Mutex<[@Sendable () -> Void]>([])

  func add(_ action: @escaping @Sendable () -> Void) { actions.withLock { $0.append(action) } }

  /// Runs what waits; false where there is nothing.
  func run() -> Bool {
    let ready = actions.withLock { actions in
      defer { actions = [] }
      return actions
    }
    for action in ready { action() }
    return !ready.isEmpty
  }
}

/// What callers were told.
private final class Told: Sendable {
  private let all = Mutex<[CallerID: [String]]>([:])

  func add(_ notice: BrokerNotice) {
    switch notice {
    case .answer(.rendered(let json, _), let caller):
      add("token", to: caller)
      rendered.withLock { $0[caller, default: []].append(json.revealedString() ?? "") }
    case .answer(.failure(let error), let caller):
      failures.withLock { $0[caller, default: []].append(error) }
      add(error.kind.rawValue, to: caller)
    case .answer(.value(let value), let caller): add("\(type(of: value))", to: caller)
    case .subscribed(let begun): add("subscribed", to: begun.caller)
    case .missed, .used, .delivery, .told, .consentAsked, .consentDecided, .locked, .idle, .problem, .audit: break
    }
  }

  private func add(_ text: String, to caller: CallerID) { all.withLock { $0[caller, default: []].append(text) } }

  func answers(to caller: CallerID) -> [String] { all.withLock { $0[caller] ?? [] } }

  private let failures = Mutex<[CallerID: [BrokerError]]>([:])

  func errors(to caller: CallerID) -> [BrokerError] { failures.withLock { $0[caller] ?? [] } }

  private let rendered = Mutex<[CallerID: [String]]>([:])

  func tokens(to caller: CallerID) -> [String] { rendered.withLock { $0[caller] ?? [] } }
}

extension Broker {
  /// Starts on the broker's own executor, which the test turns.
  fileprivate func startSoon(_ store: InMemoryStore, _ notify: @escaping @Sendable (BrokerNotice) -> Void) {
    Task { await start(with: try? store.load(), notify: notify) }
  }
}
