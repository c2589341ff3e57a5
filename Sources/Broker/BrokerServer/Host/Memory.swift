import BrokerCore
import Logging
import Transport

/// The memory that connections hold, and the measures where that is too much.
extension BrokerServer {
  /// Notes how much memory a connection holds now; if all together hold too much, those that hold most are closed.
  func account(_ connection: Connection) {
    guard !connection.isClosed else { return }
    let held = connection.heldBytes
    guard held != connection.accountedBytes else { return }
    let change = held - connection.accountedBytes
    connection.accountedBytes = held
    if ledger.add(.bufferedBytes, change), change > 0 { shed() }
  }

  /// Closes the connection that holds most, the newest of several, until the others fit.
  func shed() {
    mustShed = false
    while ledger.used(.bufferedBytes) > limits[.bufferedBytes] {
      // The connection at hand has its turn: its buffers are examined when that is over.
      let others = connections.all.lazy.filter { [current = turns.current] in
        $0.id != current && $0.accountedBytes > 0
      }
      let victim = others.max { ($0.accountedBytes, $0.id.number) < ($1.accountedBytes, $1.id.number) }
      guard let victim else { return }
      if let id = turns.current, let present = connections[id], present.accountedBytes > victim.accountedBytes {
        mustShed = true
        return
      }
      log.write(
        .warning, "closed a connection over the memory limit",
        victim.logFields + [.number("bytes", victim.accountedBytes)])
      drop(victim, for: .bufferedBytes)
    }
  }

  /// Closes a connection for a limit of time, and logs it, unless the returned timer is cancelled before.
  func drop(_ connection: Connection, after limit: Limit, _ sentence: StaticString) -> TimerID {
    let id = connection.id
    return schedule(after: limits.duration(limit)) { server in
      guard let connection = server.connections[id] else { return }
      server.log.write(.info, sentence, connection.logFields)
      server.drop(connection, for: limit)
    }
  }

  /// Closes a connection for a limit; a client that reads its answers gets the reason.
  func drop(_ connection: Connection, for limit: Limit) {
    ledger.note(limit)
    connection.input.clear()
    if connection.output.isEmpty { connection.refuse(limit, self) }
    connection.end(.closing)
    flush(connection)
    close(connection)
  }
}
