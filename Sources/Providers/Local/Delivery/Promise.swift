import Synchronization

/// A value that one task waits for; only the first one given counts.
///
/// It passes by way of the lock, not of the continuation, since the thread sanitizer sees into the one only.
final class Promise<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  /// A value to come.
  init() {}

  /// Gives the value; only the first one counts.
  func fulfil(_ value: Value) {
    let waiter = state.withLock { state in
      if state.value == nil { state.value = value }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }

  /// The value, once it is there.
  var value: Value {
    get async {
      while true {
        if let value = state.withLock({ $0.value }) { return value }
        await withCheckedContinuation { continuation in
          let isThere = state.withLock { state in
            if state.value == nil { state.waiter = continuation }
            return state.value != nil
          }
          if isThere { continuation.resume() }
        }
      }
    }
  }
}
