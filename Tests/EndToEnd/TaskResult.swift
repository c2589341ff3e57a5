import LinuxSystem
import Synchronization

/// What a task leaves for a thread that waits for it.
final class TaskResult<Value: Sendable>: Sendable {
  private let result = Mutex<Result<Value, any Error>?>(nil)
  private let isThere = Semaphore()

  private func put(_ value: Result<Value, any Error>) {
    result.withLock { $0 = value }
    isThere.signal()
  }

  private func wait() throws -> Value {
    isThere.wait()
    guard let result = result.withLock({ $0 }) else { throw TestFailure("the task has no result") }
    return try result.get()
  }
}

extension TaskResult {
  /// Lets the thread of a test wait for what is done in a task; never to be called on a thread of the global pool.
  static func waiting(for body: @escaping @Sendable () async throws -> Value) throws -> Value {
    let result = TaskResult()
    Task {
      do { result.put(.success(try await body())) } catch { result.put(.failure(error)) }
    }
    return try result.wait()
  }
}
