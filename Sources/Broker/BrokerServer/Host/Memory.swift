import BrokerCore
import LinuxSystem
import Logging
import Transport

/// What connections hold too much of, and what was told of that.
struct MemoryWatch {
  /// How often a line about closed connections may be written.
  private static let logInterval = Duration.seconds(10)

  /// Whether the connection that holds most has its turn: it is examined when that is over.
  var isDue = false
  /// How many were closed since that was last told.
  private var closed = 0
  /// When it may be told again.
  private var nextLog = Duration.zero

  /// Counts a connection that is closed.
  ///
  /// - Returns: how many were closed since that was told; nil where it may not be told yet.
  mutating func noteClosed(at now: Duration) -> Int? {
    closed += 1
    guard now >= nextLog else { return nil }
    nextLog = now + Self.logInterval
    defer { closed = 0 }
    return closed
  }
}

/// What connections hold in memory, and what happens when that is too much.
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

  /// Makes up for what was not done in a connection's turn.
  func shedAfterTurn() {
    guard memory.isDue else { return }
    memory.isDue = false
    shed()
  }

  /// Closes the connection that holds most, the newest of several, until the others fit.
  private func shed() {
    while ledger.used(.bufferedBytes) > limits[.bufferedBytes] {
      // The connection at hand has its turn: its buffers are examined when that is over.
      let others = connections.all.lazy.filter { [current = turns.current] in
        $0.id != current && $0.accountedBytes > 0
      }
      let victim = others.max { ($0.accountedBytes, $0.id.number) < ($1.accountedBytes, $1.id.number) }
      guard let victim else { return }
      if let id = turns.current, let present = connections[id], present.accountedBytes > victim.accountedBytes {
        memory.isDue = true
        return
      }
      if let count = memory.noteClosed(at: BootClock.now) {
        let fields = [.number("count", count)] + victim.logFields + [.number("bytes", victim.accountedBytes)]
        log.write(.warning, "closed connections over the memory limit", fields)
      }
      drop(victim, for: .bufferedBytes)
    }
  }

  /// Closes a connection for a limit of time, and says so, unless what is returned is cancelled before.
  func drop(_ connection: Connection, after limit: Limit, _ sentence: StaticString) -> TimerID {
    let id = connection.id
    return schedule(after: limits.duration(limit)) { server in
      guard let connection = server.connections[id] else { return }
      server.log.write(.info, sentence, connection.logFields)
      server.drop(connection, for: limit)
    }
  }

  /// Closes a connection for a limit; a client that reads its answers is told why.
  func drop(_ connection: Connection, for limit: Limit) {
    ledger.note(limit)
    connection.input.clear()
    if connection.output.isEmpty { connection.refuse(limit, self) }
    connection.end(.closing)
    flush(connection)
    close(connection)
  }
}
