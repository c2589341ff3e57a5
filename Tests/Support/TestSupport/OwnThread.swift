import LinuxSystem

/// Runs the body of a test on a thread of its own.
///
/// An event loop belongs to the thread that made it, and a test that waits must not hold up the global pool:
/// continuations may come back by way of that.
package actor OwnThread {
  private nonisolated let worker = WorkerThread(name: "test")
  package nonisolated var unownedExecutor: UnownedSerialExecutor { worker.asUnownedSerialExecutor() }

  private func perform<Value: Sendable>(_ body: @Sendable () throws -> Value) throws -> Value { try body() }

  /// Runs a body to its end.
  package static func run<Value: Sendable>(_ body: @Sendable () throws -> Value) async throws -> Value {
    let thread = OwnThread()
    defer { thread.worker.stop() }
    return try await thread.perform(body)
  }
}
