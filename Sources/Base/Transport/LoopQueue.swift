import Synchronization

/// Work that other threads hand to a loop.
final class LoopQueue: Sendable {
  /// One piece of work.
  enum Work {
    /// A step of an actor that lives on the loop.
    case job(UnownedJob)
    /// A call from elsewhere.
    case call(@Sendable () -> Void)
  }

  private struct State {
    var work: [Work] = []
    /// The bell has rung since the loop last came to fetch: one ring is enough for all.
    var isAnnounced = false
    var isStopping = false
  }

  private let state = Mutex(State())

  /// Queues work, from any thread.
  ///
  /// - Returns: true if the caller has to ring the bell.
  func append(_ work: Work) -> Bool {
    state.withLock { state in
      state.work.append(work)
      return LoopQueue.announce(&state)
    }
  }

  /// Asks the loop to stop, from any thread.
  ///
  /// - Returns: true if the caller has to ring the bell.
  func stop() -> Bool {
    state.withLock { state in
      state.isStopping = true
      return LoopQueue.announce(&state)
    }
  }

  /// Exchanges the queue for an empty array that keeps its memory, so that the two take turns without allocating.
  ///
  /// - Returns: true if the loop is to stop; said once.
  func take(_ empty: inout [Work]) -> Bool {
    state.withLock { state in
      swap(&state.work, &empty)
      state.isAnnounced = false
      defer { state.isStopping = false }
      return state.isStopping
    }
  }

  private static func announce(_ state: inout State) -> Bool {
    defer { state.isAnnounced = true }
    return !state.isAnnounced
  }
}
