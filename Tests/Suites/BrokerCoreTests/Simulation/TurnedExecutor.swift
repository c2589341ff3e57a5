import LinuxSystem
import Synchronization

/// An executor that runs nothing until it is turned: the simulation's only scheduler.
final class TurnedExecutor: SerialExecutor {
  private let jobs = Mutex<[UnownedJob]>([])
  private let thread = ThreadIdentity.current
  private let takesFromOthers: Bool

  /// An executor of the calling thread; a deterministic one takes no job from another thread.
  init(isDeterministic: Bool = true) { takesFromOthers = !isDeterministic }

  func enqueue(_ job: consuming ExecutorJob) {
    precondition(takesFromOthers || thread == .current, "a job came from another thread: that is not deterministic")
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  func checkIsolated() { precondition(thread == .current, "not on the thread of the simulation") }

  func isIsolatingCurrentContext() -> Bool? { thread == .current }

  /// Runs jobs in the order in which they came, until none is left; false where there was none.
  @discardableResult
  func turn() -> Bool {
    var hasRun = false
    while true {
      let ready = jobs.withLock { jobs in
        defer { jobs.removeAll(keepingCapacity: true) }
        return jobs
      }
      guard !ready.isEmpty else { return hasRun }
      hasRun = true
      for job in ready { job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
  }
}
