import HTTP
import Synchronization

/// A request and its answer on their way through a door, between the connection and the HTTP client.
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
    /// Whether the HTTP client waits for room, or for more of the body.
    var (sinkWaits, sourceWaits) = (false, false)
  }

  private let state = Mutex(State())

  /// A flow whose body is held here, or comes piece by piece.
  init(held body: [UInt8]?) {
    if let body { state.withLock { ($0.outgoing, $0.isBodyWhole) = (body, true) } }
  }

  // MARK: The HTTP client

  func fill(_ room: inout OutputSpan<UInt8>) -> Bool {
    state.withLock { state in
      let end = min(state.outgoing.count, state.sent + room.freeCapacity)
      while state.sent < end {
        room.append(state.outgoing[state.sent])
        state.sent += 1
      }
      let isEmpty = state.sent == state.outgoing.count
      if isEmpty, !state.isBodyWhole { (state.outgoing, state.sent, state.sourceWaits) = ([], 0, true) }
      return !(isEmpty && state.isBodyWhole)
    }
  }

  func begin(_ head: HTTPResponse) { state.withLock { $0.head = head } }

  func take(_ piece: Span<UInt8>) -> PieceAnswer {
    state.withLock { state in
      guard state.incoming.isEmpty || state.incoming.count + piece.count <= Self.room else {
        state.sinkWaits = true
        return .later
      }
      // The span is not kept; an array copies faster from a buffer than byte by byte.
      unsafe piece.withUnsafeBufferPointer { unsafe state.incoming.append(contentsOf: $0) }
      return .taken
    }
  }

  // MARK: The connection

  /// The state of the answer.
  struct Arrival {
    /// The head; nil before it has come.
    var head: HTTPResponse?
    /// The part of the body that has come since the last time.
    var piece: [UInt8]
    /// Whether the HTTP client waits for room.
    var mustResume: Bool
  }

  /// Takes what has come.
  func takeArrival() -> Arrival {
    state.withLock { state in
      defer { (state.incoming, state.sinkWaits) = ([], false) }
      return Arrival(head: state.head, piece: state.incoming, mustResume: state.sinkWaits)
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
