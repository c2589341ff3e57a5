import Synchronization

/// An executor that a test can shut: what is asked of its actor waits, and goes on when the gate is opened.
///
/// Jobs run where `post` puts them, which is the thread of the test's own loop. A continuation could not do this: it
/// comes back by way of the global pool, which other tests may be holding up.
package final class GateExecutor: SerialExecutor {
  private struct State {
    var isShut = false
    var jobs: [UnownedJob] = []
  }

  private let state = Mutex(State())
  private let post: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// An open gate.
  package init(post: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    self.post = post
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isShut = state.withLock { state in
      state.jobs.append(job)
      return state.isShut
    }
    if !isShut { post { [self] in drain() } }
  }

  /// Whether the gate is shut.
  package var isShut: Bool { state.withLock { $0.isShut } }

  /// How much waits.
  package var waiting: Int { state.withLock { $0.jobs.count } }

  /// Makes what is asked from now on wait.
  package func shut() { state.withLock { $0.isShut = true } }

  /// Lets everything go on.
  package func open() {
    state.withLock { $0.isShut = false }
    post { [self] in drain() }
  }

  /// Runs something where jobs run, whether the gate is shut or not.
  func postNow(_ action: @escaping @Sendable () -> Void) { post(action) }

  private func drain() {
    let jobs = state.withLock { state in
      guard !state.isShut else { return [] as [UnownedJob] }
      defer { state.jobs = [] }
      return state.jobs
    }
    for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
  }
}
