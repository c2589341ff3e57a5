// Embedded Swift has no tasks, and so no waiters: see `SingleThread.swift`.
#if !hasFeature(Embedded)
import Synchronization

/// A task that waits for room.
typealias RoomWaiter = CheckedContinuation<Void, Never>

/// Numbers the callers that wait for room.
private let lastWaiter = Atomic<UInt64>(0)

/// Waiting for room, so that a secret which cannot be had again is not thrown away.
extension SecretArena {
  /// Runs a body that makes secrets, and runs it again each time that room has come back, for as long as it finds none.
  ///
  /// - Parameters:
  ///   - patience: for how long in all.
  ///   - alarm: runs an action after some time, on any thread. A sleeping task would need the global pool of tasks, which a
  ///     machine that is short of room may not give.
  ///   - body: makes its secrets in the present scope; what it made before it threw is released.
  /// - Returns: what `body` returns.
  /// - Throws: `SecretMemoryExhausted` where `body` still finds no room after that time, or the task was cancelled.
  package static func withRoom<R>(
    patience: Duration, alarm: (Duration, @escaping @Sendable () -> Void) -> Void,
    _ body: () throws(SecretMemoryExhausted) -> R
  ) async throws(SecretMemoryExhausted) -> R {
    let arena = SecretScope.current.place
    let wait = RoomWait(in: arena)
    var isAlarmSet = false
    while true {
      let releases = arena.releaseCount
      do throws(SecretMemoryExhausted) { return try body() } catch {
        guard !wait.isOver, !Task.isCancelled else { throw error }
        if !isAlarmSet { alarm(patience) { wait.end() } }
        isAlarmSet = true
        await wait.awaitRelease(after: releases)
      }
    }
  }
}

extension SecretArena {
  /// How often room has come back.
  fileprivate var releaseCount: UInt64 { blocks.withLock { $0.releases } }

  /// Lets a task wait for room; false where some has come back meanwhile, or the task is cancelled.
  fileprivate func startWaiting(_ waiter: RoomWaiter, named name: UInt64, since releases: UInt64) -> Bool {
    // Looked at under the lock: a cancellation asks for the lock after that, and finds the waiter.
    blocks.withLock { !Task.isCancelled && $0.wait(waiter, named: name, since: releases) }
  }

  /// How many tasks wait for room.
  package var waiterCount: Int { blocks.withLock { $0.waiterCount } }

  /// Lets a task wait no longer.
  fileprivate func stopWaiting(_ name: UInt64) { blocks.withLock { $0.forget(name) }?.resume() }
}

/// One wait for room, which may end before there is any.
private final class RoomWait: Sendable {
  private let arena: SecretArena
  private let name = lastWaiter.wrappingAdd(1, ordering: .relaxed).newValue
  private let hasEnded = Atomic(false)

  init(in arena: SecretArena) { self.arena = arena }

  /// Whether it was ended.
  var isOver: Bool { hasEnded.load(ordering: .acquiring) }

  /// Waits no longer, now and from now on.
  func end() {
    hasEnded.store(true, ordering: .releasing)
    arena.stopWaiting(name)
  }

  /// Waits until room has come back since it had so often, or until the end, or until the task is cancelled.
  func awaitRelease(after releases: UInt64) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard arena.startWaiting(continuation, named: name, since: releases) else { return continuation.resume() }
        // An end that came just before found no waiter to wake.
        if isOver { arena.stopWaiting(name) }
      }
    } onCancel: {
      end()
    }
  }
}
#endif
