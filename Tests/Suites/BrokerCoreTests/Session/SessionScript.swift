import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport

/// Plays a session machine on two clocks that a test moves, with a store that keeps intents and records at once unless it
/// is told to fail.
struct SessionScript {
  /// The first moment; tokens of the script are issued at it.
  static let start = Moment(wall: Timestamp(milliseconds: 1_800_000_000_000), uptime: .seconds(1000))
  private static let binding = ProviderBinding(type: "scripted")

  var machine: SessionMachine
  var now = SessionScript.start
  /// The last intent that was written.
  private(set) var intent: RefreshIntent?
  /// The last record that was written.
  private(set) var stored: SessionRecord?
  /// Which start of the machine it is; nil where that cannot be told.
  var boot: String?
  /// Whether the store keeps what it is given.
  var storeWorks = true

  /// A machine that has just taken up a record, or nothing.
  init(
    _ rules: SessionRules = SessionRules(), _ record: SessionRecord? = SessionScript.record(),
    intent: RefreshIntent? = nil
  ) {
    machine = SessionMachine(
      profile: .default, binding: Self.binding, rules: rules, tokenID: { "id-\($0.revealedString() ?? "")" })
    stored = record
    self.intent = intent
  }

  /// A living record with the first tokens.
  static func record(_ change: (inout LivingSession) -> Void = { _ in }) -> SessionRecord {
    var living = LivingSession(
      tokens: ScriptedProvider.tokens(1, now: start.wall), user: nil, authTime: start.wall, issuedAt: start.wall,
      lastValidatedAt: start.wall)
    change(&living)
    return SessionRecord(profile: .default, binding: binding, generation: 7, contents: .living(living))
  }

  /// Takes up what is stored, in a new machine, as after a crash; perhaps with a changed configuration.
  mutating func restart(_ rules: SessionRules? = nil) -> [String] {
    machine = SessionMachine(
      profile: .default, binding: Self.binding, rules: rules ?? machine.rules, boot: boot,
      tokenID: { "id-\($0.revealedString() ?? "")" })
    guard let stored else { return [] }
    return play(.restored(stored, intent: intent))
  }

  /// Lets time pass on both clocks.
  mutating func pass(_ seconds: Int) {
    now = Moment(wall: now.wall + .seconds(seconds), uptime: now.uptime + .seconds(seconds))
  }

  /// As ``pass(_:)``, for less than a second.
  mutating func passMilliseconds(_ count: Int) {
    now = Moment(wall: now.wall + .milliseconds(count), uptime: now.uptime + .milliseconds(count))
  }

  /// Sets the wall clock.
  mutating func setClock(by seconds: Int) { now.wall = now.wall + .seconds(seconds) }

  /// Gives the machine an event and the store what it says; tells what is left to do, in words.
  mutating func play(_ event: SessionMachine.Event, jitter: Double = 0.5) -> [String] {
    machine.handle(event, at: now, jitter: jitter).flatMap { action in carryOut(action) }
  }

  private mutating func carryOut(_ action: SessionMachine.Action) -> [String] {
    switch action {
    case .openIntent(let flight, let intent):
      guard storeWorks else { return play(.intentFailed(flight: flight), jitter: 0) }
      self.intent = intent
      return play(.intentSaved(flight: flight))
    case .closeIntent:
      intent = nil
      return []
    case .save(let record, _):
      guard storeWorks else { return [action.summary] + play(.saveFailed(generation: record.generation)) }
      stored = record
      intent = machine.intent(beside: record)
      return [action.summary] + play(.saved(generation: record.generation))
    default: return [action.summary]
    }
  }

  /// A caller asks for a token.
  mutating func want(_ number: UInt64, force: Bool = false, refused: Bool = false) -> [String] {
    play(
      .tokenWanted(TokenDemand(waiter: CallerID(number), forcesRefresh: force || refused, isRefused: refused)))
  }

  /// A caller asks for a token of another target than the session's.
  mutating func want(
    _ number: UInt64, _ target: TokenTarget, force: Bool = false, refused: Bool = false, valid: Duration? = nil,
    waits: Bool = false, isGivable: Bool = true
  ) -> [String] {
    play(
      .tokenWanted(
        TokenDemand(
          waiter: CallerID(number), minValidity: valid, forcesRefresh: force || refused, waitsForLogin: waits,
          isRefused: refused, target: target, isGivable: isGivable)))
  }

  /// The provider answers a flight with tokens.
  mutating func succeed(_ flight: UInt64, _ change: (inout TokenSet) -> Void = { _ in }) -> [String] {
    var tokens = ScriptedProvider.tokens(Int(flight) + 1, now: now.wall)
    change(&tokens)
    return play(.refreshSucceeded(flight: flight, tokens, sentAt: now.wall))
  }

  /// The provider, or the network, fails a flight.
  mutating func fail(_ flight: UInt64, _ failure: ProviderFailure, jitter: Double = 0) -> [String] {
    play(.refreshFailed(flight: flight, failure), jitter: jitter)
  }

  /// The next wake-up, in seconds from now.
  var nextWake: Int64? { machine.nextWake(at: now).map { ($0 - now.uptime).components.seconds } }
}
