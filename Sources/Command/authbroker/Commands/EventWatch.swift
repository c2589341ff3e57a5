import AuthBrokerClient
import BrokerProtocol

/// A subscription that outlives its broker: after a loss it goes on behind the last event that was seen.
struct EventWatch: ~Copyable {
  private let context: Context
  private let events: [String]?
  private let profiles: [ProfileName]?
  private var connection: BlockingConnection
  private var reconnection: Reconnection
  /// The last sequence that was seen; nil until the first answer where none was given.
  private var last: Int?
  /// The sequence behind which a locked vault could not give events.
  private var gap: Int?
  /// The sequences received while there was a gap: few events are sent while a vault is locked.
  private var seen: Set<UInt64> = []
  /// Whether the vault has been opened, and a gap can be closed.
  private var isOpened = false
  /// The name of the subscription.
  private var subscription = ""
  /// Whether the broker has announced its end, which then is no failure.
  private var isStopping = false

  /// Connects; nothing is subscribed to yet.
  init(_ context: Context, events: [String]?, profiles: [ProfileName]?, since: Int?) throws(CommandFailure) {
    self.context = context
    self.events = events
    self.profiles = profiles
    last = since
    connection = try context.connect()
    reconnection = Reconnection(context)
  }

  /// Subscribes.
  ///
  /// - Returns: where the sessions stand, and from which sequence on events come.
  /// - Throws: a failure with the exit code for it.
  mutating func begin() throws(CommandFailure) -> Subscribe.Result {
    // Asked for in any case: they say whether another broker is wanted, and when it can tell what happened.
    let own = [EventName.shuttingDown.rawValue, EventName.vaultUnlocked.rawValue]
    let names = events.map { Array(Set($0 + own)).sorted() }
    if let gap { last = gap }
    gap = nil
    let params = Subscribe.Params(events: names, profiles: profiles, since: last)
    let state = try context.call(Subscribe.self, params, on: &connection)
    subscription = state.subscriptionID
    if state.resync == true, let last {
      let isLocked = state.sessions.contains { $0.state == .locked }
      if isLocked { gap = last }
      let why =
        if isLocked {
          "the vault is locked; events after \(last) follow when it is unlocked"
        } else if last > state.sequence {
          "there are no events after \(last) yet; going on from \(state.sequence)"
        } else {
          "the events after \(last) are no longer kept; going on from \(state.sequence)"
        }
      Output.notice(why)
    }
    // With `since`, what was missed comes first, and counts from there.
    if last == nil || state.resync == true { last = state.sequence }
    return state
  }

  /// Waits for the next event, whichever broker tells it.
  ///
  /// - Parameter timeout: how long to wait; nil: as long as there is a broker.
  /// - Returns: the event, and the text of its notification's `params`.
  /// - Throws: a failure with code 5 if none came in time, and with 8 if the broker has ended and no other one comes.
  mutating func next(within timeout: Duration?) throws(CommandFailure) -> (event: BrokerEvent, text: [UInt8]) {
    while true {
      if isOpened { try closeGap() }
      let failure: ClientError
      do throws(ClientError) {
        let (event, text) = try connection.nextEventWithText(timeout: timeout)
        if take(event) { return (event, text) }
        continue
      } catch { failure = error }
      switch failure {
      case .connectionLost: try goOn()
      case .timedOut: throw CommandFailure.late("no event \(context.withinTimeout)")
      default: throw CommandFailure(failure)
      }
    }
  }

  /// Notes an event.
  ///
  /// - Returns: whether it is to be told: it was asked for, and is not repeated.
  private mutating func take(_ event: BrokerEvent) -> Bool {
    last = max(last ?? 0, Int(clamping: event.sequence))
    switch event.payload.name {
    case .shuttingDown: isStopping = true
    case .vaultUnlocked: isOpened = gap != nil
    default: break
    }
    if seen.contains(event.sequence) { return false }
    guard events?.contains(event.payload.name.rawValue) ?? true else { return false }
    if gap != nil { seen.insert(event.sequence) }
    return true
  }

  /// Subscribes again behind the gap of a locked vault, and skips the events that were received meanwhile.
  private mutating func closeGap() throws(CommandFailure) {
    isOpened = false
    _ = try context.call(Unsubscribe.self, .init(subscriptionID: subscription), on: &connection)
    _ = try begin()
  }

  /// Subscribes at another broker, behind the last event; one that was stopped is waited for and not started.
  private mutating func goOn() throws(CommandFailure) {
    let mayStart = !isStopping
    while true {
      try reconnect(mayStart)
      do throws(CommandFailure) {
        _ = try begin()
        isStopping = false
        return Output.notice("the broker ended; resuming at another one from sequence \(last ?? 0)")
      } catch {
        guard error.exitCode == .brokerUnreachable, !error.isUnresponsive else { throw error }
      }
    }
  }

  private mutating func reconnect(_ mayStart: Bool) throws(CommandFailure) {
    do throws(CommandFailure) { connection = try reconnection.connect(mayStart: mayStart) } catch {
      guard error.exitCode == .brokerUnreachable else { throw error }
      let how = mayStart ? "has ended" : "was stopped"
      throw CommandFailure(
        .brokerUnreachable, "the broker \(how), and no other one came",
        next: NextCommand("resume with", "watch", "--since", String(last ?? 0)))
    }
  }
}
