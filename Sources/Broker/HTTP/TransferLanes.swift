import LinuxSystem
import Synchronization

/// Streamed requests that are carried out on the threads of their callers: no request waits for another thread.
///
/// Each that is under way has a lane of its own, with its own connections, by the settings of one client. A lane serves the
/// next request after that, the one that was used last first, and ends when it was not used for a while.
package final class TransferLanes: Sendable {
  private struct Idle {
    let lane: TransferLane
    let since: Duration
  }

  private struct State {
    var idle: [Idle] = []
    var isClosed = false
  }

  /// The client whose settings hold.
  let client: HTTPClient
  private let state = Mutex(State())

  /// Lanes of a transport's client; none is made yet.
  package init(of transport: AuthenticatedTransport) { client = transport.client }

  /// Makes the thread that calls this one that can use lanes.
  package static func prepareThread() { TransferThread.blockSignals() }

  /// Takes in that a thread begins to use lanes, or is about to be started for that; ``HTTPClient/close()`` waits for the end
  /// of its use.
  package func enter() { client.visitors.enter() }

  /// Takes in that the thread that calls this uses lanes no more, for now or for ever.
  package func leave() {
    // OpenSSL frees the memory of a thread no more once the process has begun to exit: see `TransferThread.close()`.
    CurlLibrary.leaveThread()
    client.visitors.leave()
  }

  /// Gives a lane to a transfer.
  ///
  /// - Throws: `HTTPFailure.libraryMissing` or `.setUpFailed`.
  func take() throws(HTTPFailure) -> TransferLane {
    if let kept = state.withLock({ $0.idle.popLast() }) { return kept.lane }
    return TransferLane(try client.transferSet())
  }

  /// Takes a lane back whose transfer is over.
  func give(_ lane: TransferLane) {
    let idle = Idle(lane: lane, since: BootClock.now)
    state.withLock { if !$0.isClosed { $0.idle.append(idle) } }
  }

  /// Ends the lanes that were not used for a while.
  ///
  /// - Returns: how long it takes until the next one is due; nil where there is none.
  package func trim() -> Duration? {
    let (now, linger) = (BootClock.now, client.linger)
    // The lock is not held while connections are closed.
    let (due, next) = state.withLock { state in
      let first = state.idle.firstIndex { now - $0.since < linger } ?? state.idle.count
      let due = Array(state.idle[..<first])
      state.idle.removeFirst(first)
      return (due, state.idle.first?.since)
    }
    withExtendedLifetime(due) {}
    return next.map { $0 + linger - now }
  }

  /// Ends all lanes that are not in use, and each of the others after its transfer.
  package func close() {
    let ended = state.withLock { state in
      defer { state = State(isClosed: true) }
      return state.idle
    }
    withExtendedLifetime(ended) {}
  }
}

/// The transfers of one thread at a time.
@safe
final class TransferLane: Sendable {
  // Reached by the DirectTransfer alone that has taken the lane out of `idle`, which is of one thread, or by the thread that
  // took it out to free it: the lock of the state orders one after the other.
  private nonisolated(unsafe) let owned: TransferSet

  /// A lane of a set of its own.
  init(_ set: TransferSet) { unsafe owned = set }

  /// The set, for the thread that has the lane.
  var set: TransferSet { unsafe owned }
}

/// The threads of others that use a client.
final class ThreadVisitors: Sendable {
  private struct State {
    var count = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// Takes in that a thread begins.
  func enter() { state.withLock { $0.count += 1 } }

  /// Takes in that a thread is about to end.
  func leave() {
    let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.count -= 1
      guard state.count == 0 else { return [] }
      defer { state.waiting = [] }
      return state.waiting
    }
    for one in waiting { one.resume() }
  }

  /// Waits until there is none.
  func haveLeft() async {
    await withCheckedContinuation { continuation in
      let isEmpty = state.withLock { state in
        if state.count > 0 { state.waiting.append(continuation) }
        return state.count == 0
      }
      if isEmpty { continuation.resume() }
    }
  }
}
