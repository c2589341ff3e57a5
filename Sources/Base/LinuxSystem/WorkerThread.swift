#if !hasFeature(Embedded)
import Synchronization

/// One thread on which an actor does work that waits (disk, key derivation) without blocking the event loop.
///
/// `start` starts it; without that, the first job does. `stop` lets it finish what is queued; a job that comes later
/// starts it again, so no task is ever left hanging. The thread keeps this object alive while it runs: its owner stops
/// it.
///
/// An executor cannot refuse a job. Where no thread can be started for one, the job runs on the thread that queued it,
/// so that a full machine makes the broker slow and never ends it. Owners avoid that by calling `start` at a time when
/// they can still refuse the work.
package final class WorkerThread: SerialExecutor {
  /// A job of an actor that runs here, or of a task that prefers to.
  private struct Job {
    let job: UnownedJob
    let taskExecutor: (any TaskExecutor)?
  }

  /// Something to do at a time.
  private struct Alarm {
    let uptime: Duration
    let action: @Sendable () -> Void
  }

  private struct State {
    var jobs: [Job] = []
    var alarms: [Alarm] = []
    var thread: SystemThread?
    var stopping = false
    /// Whether a caller runs the jobs itself, since there is no thread for them.
    var isBorrowing = false

    /// Takes out the alarms that are due.
    mutating func takeDueAlarms() -> [Alarm] {
      guard !alarms.isEmpty else { return [] }
      let now = BootClock.now
      let due = alarms.filter { $0.uptime <= now }
      if !due.isEmpty { alarms.removeAll { $0.uptime <= now } }
      return due
    }
  }

  private let name: String
  private let makeThread: @Sendable (@escaping @Sendable () -> Void) throws(Errno) -> SystemThread
  private let state = Mutex(State())
  private let work = Semaphore()
  private let identity = Atomic<UInt64>(0)

  /// Makes a worker without a thread yet.
  ///
  /// - Parameters:
  ///   - name: what process listings show; 15 bytes at most are kept.
  ///   - makeThread: starts a thread; for tests of a machine that has none left.
  package init(
    name: String,
    makeThread: @escaping @Sendable (@escaping @Sendable () -> Void) throws(Errno) -> SystemThread = {
      call throws(Errno) in
      try SystemThread(call)
    }
  ) {
    self.name = name
    self.makeThread = makeThread
  }

  /// Starts the thread now, unless it runs.
  ///
  /// - Throws: what pthread_create(3) says; `EAGAIN` where no more threads are allowed.
  package func start() throws(Errno) {
    try state.withLock { state throws(Errno) in
      // A caller lends its thread where none could be started a moment ago.
      guard !state.isBorrowing else { throw .again }
      if state.thread == nil { state.thread = try launch() }
    }
  }

  /// Queues a job; jobs run one at a time in the order in which they came.
  package func enqueue(_ job: consuming ExecutorJob) {
    enqueue(Job(job: UnownedJob(job), taskExecutor: nil))
  }

  /// Queues a job of a task that prefers this thread.
  func enqueue(_ job: consuming ExecutorJob, of taskExecutor: any TaskExecutor) {
    enqueue(Job(job: UnownedJob(job), taskExecutor: taskExecutor))
  }

  private func enqueue(_ job: Job) {
    let mustBorrow = state.withLock { state in
      state.jobs.append(job)
      guard state.thread == nil, !state.isBorrowing else { return false }
      state.thread = try? launch()
      state.isBorrowing = state.thread == nil
      return state.isBorrowing
    }
    if mustBorrow { runBorrowing() } else { work.signal() }
  }

  /// Runs an action on the thread after some time, unless the thread was ended by then.
  ///
  /// A sleeping task would do the same by way of the global pool and a thread of its timers, neither of which may be had.
  ///
  /// - Returns: false where there is no thread here either: nothing is run then.
  @discardableResult
  package func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> Bool {
    let isScheduled = state.withLock { state in
      if state.thread == nil, !state.isBorrowing { state.thread = try? launch() }
      guard state.thread != nil else { return false }
      state.alarms.append(Alarm(uptime: BootClock.now + delay, action: action))
      return true
    }
    work.signal()
    return isScheduled
  }

  /// Runs what is queued, ends the thread and waits for its end.
  ///
  /// Not to be called on the thread itself.
  package func stop() {
    precondition(isIsolatingCurrentContext() != true, "a worker cannot wait for its own end")
    let thread = state.withLock { state in
      guard !state.stopping, let thread = state.thread else { return nil as SystemThread? }
      state.stopping = true
      return thread
    }
    guard let thread else { return }
    work.signal()
    // `stopping` lets exactly one caller come here for it.
    thread.join()
    let mustBorrow = state.withLock { state in
      state.stopping = false
      // A job that came while the thread was ending.
      state.thread = state.jobs.isEmpty ? nil : try? launch()
      state.isBorrowing = state.thread == nil && !state.jobs.isEmpty
      return state.isBorrowing
    }
    if mustBorrow { runBorrowing() } else { work.signal() }
  }

  /// Traps unless the caller is on the thread.
  package func checkIsolated() {
    precondition(isIsolatingCurrentContext() == true, "not on the worker's thread")
  }

  /// Whether the caller is on the thread.
  package func isIsolatingCurrentContext() -> Bool? {
    identity.load(ordering: .relaxed) == ThreadIdentity.current.rawValue
  }

  private func launch() throws(Errno) -> SystemThread {
    try makeThread { [self] in run() }
  }

  private func run() {
    identity.store(ThreadIdentity.current.rawValue, ordering: .relaxed)
    ThreadIdentity.setName(name)
    var jobs: [Job] = []
    while true {
      if let next = state.withLock({ $0.alarms.lazy.map(\.uptime).min() }) {
        work.wait(atMost: next - BootClock.now)
      } else {
        work.wait()
      }
      let (ending, due) = state.withLock { state in
        swap(&state.jobs, &jobs)
        if state.stopping { state.alarms = [] }
        return (state.stopping, state.takeDueAlarms())
      }
      perform(jobs)
      jobs.removeAll(keepingCapacity: true)
      for alarm in due { alarm.action() }
      if ending { break }
    }
    identity.store(0, ordering: .relaxed)
  }

  /// Runs the queue on the calling thread, one caller at a time, until it is empty.
  private func runBorrowing() {
    identity.store(ThreadIdentity.current.rawValue, ordering: .relaxed)
    while true {
      let jobs = state.withLock { state in
        let jobs = state.jobs
        state.jobs = []
        if jobs.isEmpty {
          identity.store(0, ordering: .relaxed)
          state.isBorrowing = false
        }
        return jobs
      }
      guard !jobs.isEmpty else { return }
      perform(jobs)
    }
  }

  private func perform(_ jobs: [Job]) {
    for entry in jobs {
      // Each job is taken from the queue once and run once, by the one thread that is this executor's at the time.
      if let taskExecutor = entry.taskExecutor {
        unsafe entry.job.runSynchronously(on: taskExecutor.asUnownedTaskExecutor())
      } else {
        unsafe entry.job.runSynchronously(on: asUnownedSerialExecutor())
      }
    }
  }
}
#endif
