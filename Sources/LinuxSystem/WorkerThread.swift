import CLinux
import Synchronization

/// One thread on which an actor does work that waits (disk, key derivation) without holding anybody else up.
///
/// The thread starts with the first job. `stop` lets it finish what is queued; a job that comes later starts it anew,
/// so no task is ever left hanging. The thread keeps this object alive while it runs: whoever made it stops it.
package final class WorkerThread: SerialExecutor {
  private struct State {
    var jobs: [UnownedJob] = []
    var thread: pthread_t?
    var stopping = false
  }

  private let name: String
  private let state = Mutex(State())
  private let work = Semaphore()
  private let identity = Atomic<UInt64>(0)

  /// Makes a worker without a thread yet.
  ///
  /// - Parameter name: what process listings show; 15 bytes at most are kept.
  package init(name: String) {
    self.name = name
  }

  /// Queues a job; jobs run one at a time in the order in which they came.
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { state in
      state.jobs.append(job)
      if state.thread == nil { state.thread = start() }
    }
    work.signal()
  }

  /// Runs what is queued, ends the thread and waits for its end.
  ///
  /// Not to be called on the thread itself.
  package func stop() {
    precondition(isIsolatingCurrentContext() != true, "a worker cannot wait for its own end")
    let thread = state.withLock { state in
      guard !state.stopping, let thread = state.thread else { return nil as pthread_t? }
      state.stopping = true
      return thread
    }
    guard let thread else { return }
    work.signal()
    // The thread was made joinable, and `stopping` lets exactly one caller come here for it.
    pthread_join(thread, nil)
    state.withLock { state in
      state.stopping = false
      // A job that came while the thread was ending.
      state.thread = state.jobs.isEmpty ? nil : start()
    }
    work.signal()
  }

  /// Traps unless the caller is on the thread.
  package func checkIsolated() {
    precondition(isIsolatingCurrentContext() == true, "not on the worker's thread")
  }

  /// Whether the caller is on the thread.
  package func isIsolatingCurrentContext() -> Bool? {
    identity.load(ordering: .relaxed) == ThreadIdentity.current.rawValue
  }

  private func start() -> pthread_t {
    var thread = pthread_t()
    // The retained reference is taken over by the thread, which releases it at its end.
    let context = unsafe Unmanaged.passRetained(self).toOpaque()
    // `body` matches what pthread_create(3) calls, and `context` is what it expects.
    let result = unsafe pthread_create(&thread, nil, WorkerThread.body, context)
    precondition(result == 0, "no thread can be started")
    return thread
  }

  // A C function pointer; `context` is the reference that `start` retained, taken over here exactly once.
  private static let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
    // As above.
    guard let context = unsafe context else { return nil }
    // As above.
    unsafe Unmanaged<WorkerThread>.fromOpaque(context).takeRetainedValue().run()
    return nil
  }

  private func run() {
    identity.store(ThreadIdentity.current.rawValue, ordering: .relaxed)
    ThreadIdentity.setName(name)
    var jobs: [UnownedJob] = []
    while true {
      work.wait()
      let ending = state.withLock { state in
        swap(&state.jobs, &jobs)
        return state.stopping
      }
      for job in jobs {
        // Each job is taken from the queue once and run once, on this executor's own thread.
        unsafe job.runSynchronously(on: asUnownedSerialExecutor())
      }
      jobs.removeAll(keepingCapacity: true)
      if ending { break }
    }
    identity.store(0, ordering: .relaxed)
  }
}
