import BrokerCore
import BrokerProtocol
import JSON
import LinuxSystem
import Logging
import SecretMemory
import Transport

/// What connections hold in memory, how long, and what happens when that is too much.
extension BrokerServer {
  /// How often a line about closed connections may be written.
  private static let shedLogInterval = Duration.seconds(10)

  /// Notes how much memory a connection holds now; if all together hold too much, those that hold most are closed.
  func account(_ connection: Connection) {
    guard !connection.isClosed else { return }
    let held = connection.heldBytes
    guard held != connection.accountedBytes else { return }
    let change = held - connection.accountedBytes
    connection.accountedBytes = held
    if ledger.add(.bufferedBytes, change), change > 0 { shed() }
  }

  /// Makes up for what was not done in a connection's turn.
  func shedAfterTurn() {
    guard mustShed else { return }
    mustShed = false
    shed()
  }

  /// Returns what a connection held, which is closed.
  func settle(_ connection: Connection) {
    _ = ledger.add(.bufferedBytes, -connection.accountedBytes)
    connection.accountedBytes = 0
  }

  /// Closes the connection that holds most, the newest of several, until the others fit.
  private func shed() {
    while ledger.used(.bufferedBytes) > limits[.bufferedBytes] {
      var victim: Connection?
      // The connection at hand has its turn: its buffers are examined when that is over.
      for connection in connections.values where connection.id != current && connection.accountedBytes > 0 {
        guard let greatest = victim else {
          victim = connection
          continue
        }
        let (left, right) = (connection.accountedBytes, greatest.accountedBytes)
        if left > right || left == right && connection.id.number > greatest.id.number { victim = connection }
      }
      guard let victim else { return }
      if let id = current, let present = connections[id], present.accountedBytes > victim.accountedBytes {
        mustShed = true
        return
      }
      logShedding(of: victim)
      drop(victim, for: .bufferedBytes)
    }
  }

  private func logShedding(of connection: Connection) {
    let now = BootClock.now
    shedSinceLogged += 1
    guard now >= nextShedLog else { return }
    nextShedLog = now + Self.shedLogInterval
    log.warning(
      "closed connections over the memory limit", .number("count", shedSinceLogged),
      .number("connection", Int(connection.id.number)), .number("bytes", connection.accountedBytes))
    shedSinceLogged = 0
  }

  /// Closes a connection for a limit; a client that reads its answers is told why.
  private func drop(_ connection: Connection, for limit: Limit) {
    let error = self.refusal(of: limit)
    connection.input.clear()
    if connection.output.isEmpty { respond(error, id: nil, connection) }
    connection.isClosing = true
    flush(connection)
    close(connection)
  }

  // MARK: Waiting requests

  /// Whether the request that a connection has begun may wait beside those of all connections.
  ///
  /// Past the limit each connection has an equal share, so that one with little to ask is served whatever the others
  /// wait for: where it has less than its share, a request of the connection that has most makes room.
  func hasRoom(_ connection: Connection) -> Bool {
    guard requests.count > limits[.waitingRequests] else { return true }
    let share = max(limits[.waitingRequests] / max(connections.count, 1), 1)
    return connection.inFlight.count <= share && makeRoom(for: connection)
  }

  /// Refuses the newest request, of those that can be sent again, of the connection that has most.
  ///
  /// - Returns: false where no connection has more than the one at hand, or what it has must go on.
  private func makeRoom(for connection: Connection) -> Bool {
    let greatest = connections.values.max { $0.inFlight.count < $1.inFlight.count }
    guard let greatest, greatest.inFlight.count > connection.inFlight.count else { return false }
    let waiting = greatest.inFlight
    guard let key = broker.assumeIsolated({ broker in waiting.filter { broker.maySendAgain($0) }.max() }) else {
      return false
    }
    fail(key, refusal(of: .waitingRequests))
    return true
  }

  // MARK: Unfinished messages

  /// Begins or ends the time that a message may take, by what is left of a read.
  func watchMessage(_ connection: Connection) {
    let isIncomplete = !connection.input.isEmpty && !connection.mustBeTaken
    guard isIncomplete, !connection.isClosing, !connection.hasInputEnded else { return endMessageTimer(connection) }
    guard connection.messageTimer == nil else { return }
    let id = connection.id
    connection.messageTimer = loop.schedule(after: limits.duration(.incompleteMessage)) { [weak self] in
      self?.assumeIsolated { server in
        guard let connection = server.connections[id] else { return }
        connection.messageTimer = nil
        server.log.info("closed a connection with an incomplete message", .number("connection", Int(id.number)))
        server.drop(connection, for: .incompleteMessage)
      }
    }
  }

  /// A message has ended, or its connection.
  func endMessageTimer(_ connection: Connection) {
    guard let timer = connection.messageTimer else { return }
    loop.cancel(timer)
    connection.messageTimer = nil
  }

  // MARK: Tokens

  /// Closes the connections whose clients have not read a token yet: what is locked must not lie in their buffers.
  func dropUnreadTokens() {
    for batch in batches.values where batch.holdsToken { connections[batch.client]?.holdsToken = true }
    for connection in Array(connections.values) where connection.holdsToken {
      // What is being written in this turn is dropped when its client does not take it at once.
      connection.dropsTokens = true
      if connection.id != current { dropTokens(connection) }
    }
  }

  /// Closes a connection that holds a token which must not stay.
  func dropTokens(_ connection: Connection) {
    log.notice("closed a connection with an unread token", .number("connection", Int(connection.id.number)))
    close(connection)
  }
}
