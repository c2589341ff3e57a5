import AuthBrokerClient
import BrokerProtocol

/// The newest events that the broker still has, without waiting for more.
enum PastEvents {
  /// How far back is looked, in sequences, until the broker has everything since then.
  ///
  /// First at all that is kept, 10,000 events at most. A broker that has dropped older ones is asked for less: for what its
  /// last start left behind (sequences jump by 2^20 there), for what it has in memory, and for its newest minutes.
  private static let windows = [Int.max, 1 << 20, 1024, 64]

  /// Asks for the newest events of some names.
  ///
  /// - Returns: the events, the oldest first; none where the broker does not tell.
  static func list(
    _ names: [EventName], _ context: Context, on connection: inout BlockingConnection
  ) -> [BrokerEvent] {
    do throws(CommandFailure) {
      let sequence = try context.call(Initialize.self, .init(), on: &connection).sequence
      for window in windows {
        let params = Subscribe.Params(events: names.map { $0.rawValue }, since: max(0, sequence - window))
        let subscription = try context.call(Subscribe.self, params, on: &connection)
        if subscription.resync != true { return try replayed(context, &connection) }
      }
    } catch {}
    return []
  }

  /// The events between the answer to a subscription and the answer to the next request.
  private static func replayed(
    _ context: Context, _ connection: inout BlockingConnection
  ) throws(CommandFailure) -> [BrokerEvent] {
    _ = try context.call(Ping.self, Empty(), on: &connection)
    var events: [BrokerEvent] = []
    while let event = try? connection.nextEvent(timeout: .zero) { events.append(event) }
    return events
  }
}
