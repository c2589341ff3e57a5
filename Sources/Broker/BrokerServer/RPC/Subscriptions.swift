import BrokerCore
import BrokerProtocol
import JSONRPC
import LinuxSystem
import Logging

/// The subscriptions of a connection that get events in another order than they come.
struct Subscriptions {
  /// The first and the last sequence of events.
  typealias Sequences = (from: UInt64, to: UInt64)

  /// Subscriptions whose own answer waits in a batch, with that batch.
  private var unanswered: [String: UInt64] = [:]
  /// Subscriptions that have lost events because the client does not read, with the lost sequences.
  private var lost: [String: Sequences] = [:]
  /// Subscriptions with a replay under way, in order.
  private(set) var replays: [String] = []
  /// Whether a page of the first of them is awaited.
  var isReplayUnderWay = false

  /// Whether no replay is under way, and no lost events are to be reported.
  var areTold: Bool { lost.isEmpty && replays.isEmpty }

  /// The batch in which the own answer of one waits.
  func batch(of id: String) -> UInt64? { unanswered[id] }
  /// Notes in which batch the own answer of one waits.
  mutating func begin(_ id: String, in batch: UInt64?) { unanswered[id] = batch }
  /// Notes that a batch was answered.
  mutating func noteAnswered(_ batch: UInt64) { unanswered = unanswered.filter { $0.value != batch } }

  /// Whether one has missed events.
  func hasLost(_ id: String) -> Bool { lost[id] != nil }
  /// Notes that one has missed an event.
  mutating func lose(_ sequence: UInt64, _ id: String) { lost[id, default: (sequence, sequence)].to = sequence }
  /// Adds lost sequences.
  mutating func addLost(_ more: [String: Sequences]) {
    lost.merge(more) { (min($0.from, $1.from), max($0.to, $1.to)) }
  }
  /// Takes out the lost sequences.
  mutating func takeLost() -> [(key: String, value: Sequences)] {
    guard !lost.isEmpty else { return [] }
    defer { lost = [:] }
    return lost.sorted { $0.key < $1.key }
  }

  /// Begins a replay for one, behind the others.
  mutating func replay(_ id: String) { replays.append(id) }
  /// Ends the replay of one.
  mutating func endReplay(_ id: String) { replays.removeAll { $0 == id } }
  /// Forgets one.
  mutating func end(_ id: String) {
    lost[id] = nil
    endReplay(id)
  }
}

/// Sending events to subscribers: new ones, replays, and the notice of lost ones.
extension BrokerServer {
  /// Answers a request for a subscription, and sends its missed events.
  func begin(_ subscription: BegunSubscription) {
    let id = subscription.result.subscriptionID
    guard let connection = rpcConnection(subscription.client), let pending = rpc.requests[subscription.caller] else {
      // The request was cancelled, or its client has gone, while old events were read.
      let params = Unsubscribe.Params(subscriptionID: id)
      return broker.assumeIsolated { try? $0.unsubscribe(params, client: subscription.client) }
    }
    connection.subscriptions.begin(id, in: pending.batch)
    succeed(subscription.caller, subscription.result)
    if isUnanswered(id, connection) {
      for delivery in subscription.missed { deliver(delivery) }
    } else {
      // A page at most: it has room behind whatever waits.
      for delivery in subscription.missed { append(delivery.event, delivery.details, id, connection) }
      flush(connection)
    }
    guard subscription.isReplaying else { return }
    connection.subscriptions.replay(id)
    continueReplays(connection)
  }

  /// Ends a subscription of the connection.
  func unsubscribe(_ params: Unsubscribe.Params, _ request: Request) throws(BrokerError) -> Empty {
    let client = request.connection.id
    try asked { broker throws(BrokerError) in try broker.unsubscribe(params, client: client) }
    request.connection.subscriptions.end(params.subscriptionID)
    return Empty()
  }

  // MARK: Events

  /// The most events that are kept for subscriptions whose own answer waits in a batch: as many as memory replays.
  private static let mostBatchedEvents = SubscriptionHub.keptEvents

  /// Passes an event on, unless the client is so far behind that it can only be told of lost events.
  func deliver(_ delivery: SubscriptionHub.Delivery) {
    guard let connection = rpcConnection(delivery.client), !connection.isClosing else { return }
    let (id, sequence) = (delivery.subscriptionID, delivery.event.sequence)
    if let batch = connection.subscriptions.batch(of: id), let count = rpc.batches[batch]?.deliveries.count {
      if count < Self.mostBatchedEvents {
        rpc.batches[batch]?.deliveries.append(delivery)
        connection.batchedBytes += delivery.details.count
        account(connection)
      } else {
        rpc.batches[batch]?.lost[id, default: (sequence, sequence)].to = sequence
        ledger.note(.outputBytes)
      }
      return
    }
    if connection.output.count > limits[.outputBytes] || connection.subscriptions.hasLost(id) {
      ledger.note(.outputBytes)
      return connection.subscriptions.lose(sequence, id)
    }
    append(delivery.event, delivery.details, id, connection)
    flush(connection)
  }

  /// Appends one event, framed, without the secrets of a login that is not this connection's; `details` are all of its
  /// members.
  private func append(_ event: BrokerEvent, _ details: [UInt8], _ subscriptionID: String, _ connection: RPCConnection) {
    var details = details
    if let payload = event.payload.shown(to: connection.principal) {
      var event = event
      event.payload = payload
      details = event.details()
    }
    let message = event.notification(for: subscriptionID, details)
    connection.writer.framing.append(message.span, to: &connection.output.bytes)
  }

  /// Sends a client that reads again the sequences of lost events; the subscription lives on.
  func reportLosses(_ connection: RPCConnection) {
    for (subscription, range) in connection.subscriptions.takeLost() {
      appendLoss(range.from, range.to, subscription, connection)
    }
  }

  /// Appends the notice that a subscription has lost events of these sequences.
  private func appendLoss(_ from: UInt64, _ through: UInt64, _ subscription: String, _ connection: RPCConnection) {
    let payload = EventPayload.eventsLost(EventsLostEvent(from: Int(clamping: from), to: Int(clamping: through)))
    let event = BrokerEvent(sequence: through, profile: nil, time: WallClock.timestamp, payload: payload)
    append(event, event.details(), subscription, connection)
  }

  // MARK: Replays

  /// The most bytes that may wait for a client when it gets another page: less than a page has, so that a client that
  /// reads slowly costs little memory, and one that reads fast never waits.
  private static let replayBacklog = 1 << 16

  /// Asks for the next page of the connection's first replay, if the client has taken the one before.
  func continueReplays(_ connection: RPCConnection) {
    guard !connection.subscriptions.replays.isEmpty, !connection.subscriptions.isReplayUnderWay,
      !connection.isClosing, !end.isDraining,
      connection.output.count <= min(Self.replayBacklog, limits[.outputBytes] / 2),
      let id = connection.subscriptions.replays.first(where: { !isUnanswered($0, connection) })
    else { return }
    connection.subscriptions.isReplayUnderWay = true
    let client = connection.id
    broker.assumeIsolated { $0.nextPage(of: client, id) }
  }

  /// Whether the subscription's own answer waits in a batch: its events come behind that.
  private func isUnanswered(_ id: String, _ connection: RPCConnection) -> Bool {
    connection.subscriptions.batch(of: id).map { rpc.batches[$0] != nil } ?? false
  }

  /// Sends a page, and asks for the next one when the client has room for it.
  func take(_ page: ReplayPage) {
    let id = page.subscriptionID
    guard let connection = rpcConnection(page.client) else { return }
    connection.subscriptions.isReplayUnderWay = false
    guard connection.subscriptions.replays.contains(id) else { return continueReplays(connection) }
    if page.isLast { connection.subscriptions.endReplay(id) }
    if let lost = page.lost { appendLoss(lost.from, lost.through, id, connection) }
    for delivery in page.deliveries { append(delivery.event, delivery.details, id, connection) }
    // The end of sending asks for the next page.
    flush(connection)
    continueReplays(connection)
  }
}
