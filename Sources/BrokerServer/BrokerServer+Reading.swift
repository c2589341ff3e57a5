import BrokerCore
import BrokerProtocol
import JSONRPC
import LinuxSystem
import Logging
import SecretMemory
import Transport

/// How bytes become messages.
extension BrokerServer {
  /// Moves what can be moved for a connection; `isGone` says that nobody is left to read an answer.
  func ready(_ id: ClientID, isReadable: Bool, isWritable: Bool, isGone: Bool) {
    guard let connection = connections[id] else { return }
    if isWritable { flush(connection) }
    // What was sent before a hang-up is still read: a program may say `logout` and go.
    if isReadable, !connection.isClosed, connection.mayRead { readTurn(connection) }
    if isGone, !connection.isClosed, !connection.mayRead || connection.isHeldUp { close(connection) }
  }

  /// One read, the answers to all complete messages, one send.
  private func readTurn(_ connection: Connection) {
    inTurn(connection) {
      switch connection.stream.read(into: &scratch, at: 0) {
      case .bytes(let count): take(count, connection)
      case .wouldBlock: break
      case .endOfStream:
        connection.hasInputEnded = true
        take(0, connection)
      case .failed: connection.isClosing = true
      }
    }
  }

  /// Goes on with messages that were held up because the client did not read its answers.
  func resume(_ connection: Connection) {
    inTurn(connection) { take(0, connection) }
  }

  /// Collects what `body` answers, and sends it at the end.
  private func inTurn(_ connection: Connection, _ body: () -> Void) {
    current = connection.id
    let now = broker.now
    (turnTime, turnUptime) = (now.wall.milliseconds, now.uptime.milliseconds)
    if connection.output.bytes.capacity == 0 { swap(&connection.output.bytes, &spareOutput) }
    body()
    current = nil
    flush(connection)
  }

  /// Takes in the first bytes of the scratch buffer, behind what is left of the connection's last read.
  ///
  /// The bytes are taken out of their place while messages are read from them, so that they have one owner, and are
  /// wiped wherever they were: a message may carry a password.
  private func take(_ count: Int, _ connection: Connection) {
    var bytes: [UInt8] = []
    if connection.input.isEmpty {
      swap(&bytes, &scratch)
      let rest = cutMessages(bytes.span.extracting(first: count), connection)
      if !rest.isEmpty { connection.input = Array(bytes[rest]) }
      wipe(&bytes, 0..<count)
      swap(&bytes, &scratch)
    } else {
      bytes.reserveCapacity(connection.input.count + count)
      bytes += connection.input
      bytes += scratch[..<count]
      wipe(&connection.input)
      connection.input = []
      wipe(&scratch, 0..<count)
      let rest = cutMessages(bytes.span, connection)
      if !rest.isEmpty { connection.input = Array(bytes[rest]) }
      wipe(&bytes)
    }
  }

  /// Receives every complete message; the rest is the beginning of one that is not complete, or is held up.
  private func cutMessages(_ bytes: Span<UInt8>, _ connection: Connection) -> Range<Int> {
    var offset = 0
    connection.isHeldUp = false
    let outputLimit = limits[.outputBytes]
    while !connection.isClosing, !connection.readsNoMore {
      guard connection.output.count <= outputLimit else {
        connection.isHeldUp = offset < bytes.count
        return offset..<bytes.count
      }
      let rest = bytes.extracting(offset..<bytes.count)
      switch connection.frames.step(rest, isFinal: connection.hasInputEnded) {
      case .needsMore(let consumed): return offset + consumed..<bytes.count
      case .message(let range, let consumed):
        receive(rest.extracting(range), connection)
        offset += consumed
      case .tooLong(let consumed):
        respond(refusal(of: .messageBytes), id: nil, connection)
        offset += consumed
      case .broken(let why):
        respond(BrokerError(.parseError, why), id: nil, connection)
        connection.isClosing = true
      }
    }
    return bytes.count..<bytes.count
  }
}
