import BrokerCore
import LinuxSystem
import Logging
import Transport

/// Writing, and closing connections.
extension BrokerServer {
  /// Sends the waiting bytes, and ends the connection where its time has come.
  func flush(_ connection: Connection) {
    guard turns.current != connection.id, !connection.isClosed else { return }
    connection.stir()
    while !connection.output.isEmpty {
      switch connection.output.write(to: connection.stream) {
      case .bytes(let count):
        connection.output.sent(count)
        cancel(&connection.timers.stall)
      case .wouldBlock:
        if connection.output.dropsTokens, connection.output.holdsToken { return dropTokens(connection) }
        if connection.timers.stall == nil {
          connection.timers.stall = drop(connection, after: .stalledOutput, "closed a connection that does not read")
        }
        updateInterest(connection)
        return account(connection)
      case .endOfStream, .failed:
        return close(connection)
      }
    }
    buffers.takeBack(from: &connection.output)
    connection.addMore(self)
    if connection.hold == .output { enqueue(connection) }
    guard connection.output.isEmpty else { return flush(connection) }
    if mayEnd(connection) { close(connection) } else { updateInterest(connection) }
    account(connection)
  }

  private func mayEnd(_ connection: Connection) -> Bool {
    let isOver: Bool
    switch connection.ending {
    case .closing: return true
    case .told: isOver = true
    // A subscription does not outlive the input either: a relay whose program has gone would stay for ever.
    case .inputEnded: isOver = connection.hold == nil
    case nil: isOver = false
    }
    let isLeft = end.isDraining && !connection.mayEndServer && connection.hold != .answers
    return (isOver || isLeft) && connection.isAnswered && connection.isTold(whileDraining: end.isDraining)
  }

  /// Asks the loop for the readiness that the connection needs now: a client that does not read is not read.
  private func updateInterest(_ connection: Connection) {
    let isHeld = connection.isStopped || connection.output.count > limits[.outputBytes]
    let interest = (reading: connection.mayRead && !isHeld, writing: !connection.output.isEmpty)
    guard interest != connection.interest else { return }
    connection.interest = interest
    connection.stream.setInterest(reading: interest.reading, writing: interest.writing, on: loop)
  }

  /// Ends a connection and everything that it had begun to wait for.
  func close(_ connection: Connection) {
    guard connections.remove(connection.id) != nil else { return }
    _ = ledger.add(.connections, -1)
    connection.close()
    cancel(&connection.timers.stall)
    cancel(&connection.timers.message)
    connection.stream.close(on: loop)
    connection.forget(self)
    connection.input.clear()
    connection.output.clear()
    _ = ledger.add(.bufferedBytes, -connection.accountedBytes)
    connection.accountedBytes = 0
    if connection.entrance == .stdio { drain() } else { listeners[connection.entrance]?.connectionClosed() }
    connectionEnded()
  }

  // MARK: Tokens

  /// Closes the connections whose clients have not read a token yet: a locked vault's token must not lie in their
  /// buffers.
  func dropUnreadTokens() {
    for connection in Array(connections.all) where connection.output.holdsToken {
      // What is being written in this turn is dropped when its client does not take it at once.
      connection.output.dropsTokens = true
      if connection.id != turns.current { dropTokens(connection) }
    }
  }

  private func dropTokens(_ connection: Connection) {
    log.write(.notice, "closed a connection with an unread token", connection.logFields)
    close(connection)
  }
}

extension Connection {
  /// The fields that identify the connection in the log.
  final var logFields: [LogField] {
    [.number("connection", Int(clamping: id.number)), .word("entrance", entrance.name)]
  }
}
