import LinuxSystem
import Synchronization

/// Streamed requests that are carried out on the threads of their callers: no request waits for another thread.
///
/// Each that is under way has a lane of its own, with its own connections, by the settings of one client. A thread keeps its
/// lane between its requests (``KeptLane``); one that was released serves the next thread, the one that was used last first,
/// and ends when it was not used for a while.
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

  /// Gives a lane to a thread.
  ///
  /// - Throws: `HTTPFailure.libraryMissing` or `.setUpFailed`.
  func take() throws(HTTPFailure) -> TransferLane {
    if let kept = state.withLock({ $0.idle.popLast() }) { return kept.lane }
    return TransferLane(try client.transferSet())
  }

  /// Takes a lane back on which no transfer is under way.
  func give(_ lane: TransferLane) {
    lane.set.header.clear()
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

  /// How many lanes wait for a thread; for tests.
  var idleCount: Int { state.withLock { $0.idle.count } }

  /// Ends all lanes that no thread has, and each of the others when it is released.
  package func close() {
    let ended = state.withLock { state in
      defer { state = State(isClosed: true) }
      return state.idle
    }
    withExtendedLifetime(ended) {}
  }
}

/// The lane that a thread keeps between its requests: while they follow each other, no lock is taken for it, and what was made
/// for the one before serves the next.
///
/// It is used on one thread, which releases the lane when it has nothing to send for a while: others may use its
/// connections, and no credentials stay behind.
package final class KeptLane {
  private let lanes: TransferLanes
  private var lane: TransferLane?

  /// No lane is taken yet.
  package init(of lanes: TransferLanes) { self.lanes = lanes }

  deinit { release() }

  /// The client whose settings hold.
  var client: HTTPClient { lanes.client }

  /// Releases the lane; no transfer is under way on it.
  package func release() {
    guard let lane else { return }
    lanes.give(lane)
    self.lane = nil
  }

  /// The lane, taken where none is kept.
  ///
  /// - Throws: `HTTPFailure.libraryMissing` or `.setUpFailed`.
  func take() throws(HTTPFailure) -> TransferLane {
    if let lane { return lane }
    let taken = try lanes.take()
    lane = taken
    return taken
  }
}

/// The transfers of one thread at a time.
@safe
final class TransferLane: Sendable {
  // Reached by the KeptLane alone that has taken the lane out of `idle`, which is of one thread, or by the thread that took it
  // out to free it: the lock of the state orders one after the other.
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
