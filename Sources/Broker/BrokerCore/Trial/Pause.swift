import Synchronization

/// The end of a pause, which comes once: of itself, or with the task that waits for it.
final class Pause: Sendable {
  private enum State {
    case begun
    case waitedFor(CheckedContinuation<Bool, Never>)
    case over(isWhole: Bool)
  }

  private let state = Mutex(State.begun)

  /// Whether it has ended.
  var isOver: Bool {
    state.withLock { state in
      if case .over = state { true } else { false }
    }
  }

  /// Waits for the end.
  var value: Bool {
    get async {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let end: Bool? = state.withLock { state in
            if case .over(let isWhole) = state { return isWhole }
            state = .waitedFor(continuation)
            return nil
          }
          if let end { continuation.resume(returning: end) }
        }
      } onCancel: {
        end(isWhole: false)
      }
    }
  }

  /// Ends the pause, unless it is over.
  func end(isWhole: Bool) {
    let waiting: CheckedContinuation<Bool, Never>? = state.withLock { state in
      defer { state = .over(isWhole: isWhole) }
      guard case .waitedFor(let continuation) = state else { return nil }
      return continuation
    }
    waiting?.resume(returning: isWhole)
  }
}
