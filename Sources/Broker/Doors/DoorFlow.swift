import HTTP
import LinuxSystem
import Synchronization

/// A request and its answer on their way through a door, between the thread of the connection and that of the HTTP client.
///
/// Of each direction there is at most one piece here: the faster end waits.
final class DoorFlow: BodySource, ResponseSink, Sendable {
  /// How much of either direction may wait here.
  private static let room = 1 << 17

  private struct State {
    /// The part of the request's body that has come, and how much of that was sent.
    var outgoing: [UInt8] = []
    var sent = 0
    var isBodyWhole = false
    var head: HTTPResponse?
    var incoming: [UInt8] = []
    /// Whether the client's thread waits for room, or for more of the body.
    var (sinkWaits, sourceWaits) = (false, false)
    var result: Result<HTTPResponse, HTTPFailure>?
  }

  /// Rings when something has come.
  let bell: EventCounter
  private let state = Mutex(State())

  /// A flow whose body is held here, or comes piece by piece.
  ///
  /// - Throws: what eventfd(2) says.
  init(held body: [UInt8]?) throws(Errno) {
    bell = try EventCounter()
    if let body { state.withLock { ($0.outgoing, $0.isBodyWhole) = (body, true) } }
  }

  // MARK: The thread of the HTTP client

  func fill(_ room: inout OutputSpan<UInt8>) -> Bool {
    state.withLock { state in
      let end = min(state.outgoing.count, state.sent + room.freeCapacity)
      while state.sent < end {
        room.append(state.outgoing[state.sent])
        state.sent += 1
      }
      let isEmpty = state.sent == state.outgoing.count
      if isEmpty, !state.isBodyWhole { (state.outgoing, state.sent, state.sourceWaits) = ([], 0, true) }
      if isEmpty, !state.isBodyWhole { bell.raise() }
      return !(isEmpty && state.isBodyWhole)
    }
  }

  func begin(_ head: HTTPResponse) {
    state.withLock { $0.head = head }
    bell.raise()
  }

  func take(_ piece: Span<UInt8>) -> PieceAnswer {
    let answer: PieceAnswer = state.withLock { state in
      guard state.incoming.isEmpty || state.incoming.count + piece.count <= Self.room else {
        state.sinkWaits = true
        return .later
      }
      // The span is not kept; an array copies faster from a buffer than byte by byte.
      unsafe piece.withUnsafeBufferPointer { unsafe state.incoming.append(contentsOf: $0) }
      return .taken
    }
    bell.raise()
    return answer
  }

  /// Takes in the end of the exchange.
  func finish(_ result: Result<HTTPResponse, HTTPFailure>) {
    state.withLock { $0.result = result }
    bell.raise()
  }

  // MARK: The thread of the connection

  /// The state of the answer.
  struct Arrival {
    /// The head; nil before it has come.
    var head: HTTPResponse?
    /// The part of the body that has come since the last time.
    var piece: [UInt8]
    /// The end of the exchange; nil before that.
    var result: Result<HTTPResponse, HTTPFailure>?
    /// Whether the HTTP client waits for room.
    var mustResume: Bool
  }

  /// Takes what has come.
  func takeArrival() -> Arrival {
    state.withLock { state in
      defer { (state.incoming, state.sinkWaits) = ([], false) }
      return Arrival(
        head: state.head, piece: state.incoming, result: state.result, mustResume: state.sinkWaits)
    }
  }

  /// How many bytes of the body are held here, sent or not; for tests.
  var heldCount: Int { state.withLock { $0.outgoing.count } }

  /// How many more bytes of the body are wanted now.
  var bodyRoom: Int {
    state.withLock { $0.isBodyWhole ? 0 : max(0, Self.room - ($0.outgoing.count - $0.sent)) }
  }

  /// Gives more of the body; true where the HTTP client waits for it.
  func give(_ piece: ArraySlice<UInt8>, isLast: Bool) -> Bool {
    state.withLock { state in
      // What was sent is not kept: the client may always be ahead.
      state.outgoing.removeFirst(state.sent)
      state.sent = 0
      state.outgoing += piece
      state.isBodyWhole = isLast
      defer { state.sourceWaits = false }
      return state.sourceWaits
    }
  }
}
