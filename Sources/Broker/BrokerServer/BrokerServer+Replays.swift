import BrokerCore
import BrokerProtocol
import Logging

/// How clients get events of long ago: a page whenever there is room for one, one replay of a connection at a time.
extension BrokerServer {
  /// What may wait for a client when it gets another page: less than a page has, so that a client that reads slowly
  /// costs little memory, and one that reads fast never waits.
  private static let replayBacklog = 1 << 16

  /// Asks for the next page of the connection's first replay, if the client has taken what came before.
  func continueReplays(_ connection: Connection) {
    guard !connection.isReplayUnderWay, !connection.isClosing, !isDraining,
      connection.output.count <= min(Self.replayBacklog, limits[.outputBytes] / 2),
      let id = connection.replays.first(where: { !isUnanswered($0, connection) })
    else { return }
    connection.isReplayUnderWay = true
    let client = connection.id
    broker.assumeIsolated { $0.nextPage(of: client, id) }
  }

  /// Whether the subscription's own answer waits in a batch: its events come behind that.
  func isUnanswered(_ id: String, _ connection: Connection) -> Bool {
    connection.unanswered[id].map { batches[$0] != nil } ?? false
  }

  /// Sends a page, and asks for the next one when the client has room for it.
  func take(_ page: ReplayPage) {
    let id = page.subscriptionID
    guard let connection = connections[page.client] else { return }
    connection.isReplayUnderWay = false
    guard connection.replays.contains(id) else { return continueReplays(connection) }
    if page.isLast { connection.replays.removeAll { $0 == id } }
    if let lost = page.lost { appendLoss(lost.from, lost.through, id, connection) }
    for delivery in page.deliveries { append(delivery.event, delivery.details, id, connection) }
    // The end of sending asks for the next page.
    flush(connection)
    continueReplays(connection)
  }
}
