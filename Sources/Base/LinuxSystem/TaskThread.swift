#if !hasFeature(Embedded)
/// One thread for what tasks do that belongs to no actor.
///
/// Such work runs in the global pool otherwise, whose threads come and go: where no more are allowed, the pool sleeps on
/// the calling thread, the event loop's too, until one can be made. This thread is there from the start.
package final class TaskThread: TaskExecutor {
  /// The one of the process; a program that cannot do without it starts it first.
  package static let shared = TaskThread(name: "tasks")

  private let worker: WorkerThread

  /// Makes an executor without a thread yet.
  ///
  /// - Parameter name: what process listings show; 15 bytes at most are kept.
  package init(name: String) { worker = WorkerThread(name: name) }

  /// Starts the thread now, unless it runs.
  ///
  /// - Throws: what pthread_create(3) says; `EAGAIN` where no more threads are allowed.
  package func start() throws(Errno) { try worker.start() }

  /// Runs an action on the thread after some time.
  package func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) {
    worker.schedule(after: delay, action)
  }

  /// Queues a job; jobs run one at a time in the order in which they came.
  package func enqueue(_ job: consuming ExecutorJob) {
    worker.enqueue(job, of: self)
  }
}
#endif
