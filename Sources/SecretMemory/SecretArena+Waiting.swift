import Synchronization

/// Names those who wait for room.
private let lastWaiter = Atomic<UInt64>(0)

/// How what cannot be had again waits for room instead of being thrown away.
extension SecretArena {
  /// Runs a body that makes secrets, and runs it again each time that room has come back, for as long as it finds none.
  ///
  /// - Parameters:
  ///   - patience: for how long in all.
  ///   - body: makes its secrets in the present scope; what it made before it threw is released.
  /// - Returns: what `body` returns.
  /// - Throws: `SecretMemoryExhausted` where `body` still finds no room after that time, or the task was cancelled.
  package static func withRoom<R>(
    patience: Duration, _ body: () throws(SecretMemoryExhausted) -> R
  ) async throws(SecretMemoryExhausted) -> R {
    let arena = SecretScope.current.place
    let clock = ContinuousClock()
    let end = clock.now + patience
    while true {
      let releases = arena.releaseCount
      do throws(SecretMemoryExhausted) { return try body() } catch {
        let rest = end - clock.now
        guard rest > .zero, !Task.isCancelled else { throw error }
        await arena.awaitRelease(after: releases, for: rest)
      }
    }
  }

  /// Waits until room has come back since it had so often, at most for some time, or until the task is cancelled.
  private func awaitRelease(after releases: UInt64, for patience: Duration) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.awaitRelease(after: releases) }
      // It only ends the wait: that it was cancelled is no matter.
      group.addTask { try? await Task.sleep(for: patience) }
      await group.next()
      group.cancelAll()
    }
  }

  private func awaitRelease(after releases: UInt64) async {
    let name = lastWaiter.wrappingAdd(1, ordering: .relaxed).newValue
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if !startWaiting(continuation, named: name, since: releases) { continuation.resume() }
      }
    } onCancel: {
      stopWaiting(name)
    }
  }
}
