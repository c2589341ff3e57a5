package import LinuxSystem
import Synchronization

/// The one thread that owns the conversation: it waits for descriptors, timers and other threads, and it is the
/// executor of the actors that live on it.
///
/// A handler enters such an actor with ``LoopEntrance``, without a hop.
///
/// A turn: wait (epoll(7), level-triggered); tell the handlers; tell those who gather events that all are told; run
/// queued jobs, a bounded number; call due timers.
/// Nothing is allocated for a wake-up, and other threads cost one lock and at most one write to wake the loop.
///
/// The loop belongs to the thread that made it, until another one calls `run`. All but `enqueue`, `post`, `stop` and
/// the isolation checks is for that thread alone, which is checked.
package final class EventLoop: SerialExecutor, @unchecked Sendable {
  // Sendable: the queue, the bell and the owner are made for several threads; everything else is reached only after
  // `requireLoop`, so by one thread; a change of owner is ordered by the atomic `owner`.

  /// How many events one wait brings.
  private static let batch = 256
  /// How many jobs run before descriptors are looked at again: enough to amortise the wait, few enough not to be felt.
  private static let jobsPerTurn = 256
  private static let wakeToken: UInt64 = .max
  private static let timerToken: UInt64 = .max - 1

  private let owner: Atomic<UInt64>
  private let wakeUp: EventCounter
  private let incoming = LoopQueue()

  private let epoll: Epoll
  private var handlers = HandlerTable()
  private var turnObservers: [any TurnObserver] = []
  private var alwaysReady: [Registration] = []
  private var timers = TimerQueue()
  private let alarm: BootTimer
  private var alarmTime: Int64 = .max
  private var timerIsDue = false
  private var local: [LoopQueue.Work] = []
  private var localHead = 0
  private var fetched: [LoopQueue.Work] = []
  /// How many turns there were.
  private(set) var turns: UInt64 = 0
  private var isRunning = false
  private var isStopping = false

  /// Makes a loop that belongs to the calling thread.
  ///
  /// - Throws: `EMFILE` and the like.
  package init() throws(Errno) {
    owner = Atomic(ThreadIdentity.current.rawValue)
    wakeUp = try EventCounter()
    alarm = try BootTimer()
    epoll = try Epoll(capacity: EventLoop.batch)
    try epoll.add(wakeUp.descriptor.number, .readable, token: EventLoop.wakeToken)
    try epoll.add(alarm.descriptor.number, .readable, token: EventLoop.timerToken)
  }

  // MARK: Executor

  /// Queues a job of an actor that lives here.
  ///
  /// From the loop's own thread this neither locks nor wakes.
  package func enqueue(_ job: consuming ExecutorJob) {
    append(.job(UnownedJob(job)))
  }

  /// Queues a call, from any thread: the way back for work that was done elsewhere.
  package func post(_ call: @escaping @Sendable () -> Void) {
    append(.call(call))
  }

  /// Traps unless the caller is on the loop's thread.
  package func checkIsolated() {
    precondition(isOnLoop, "not on the loop's thread")
  }

  /// Whether the caller is on the loop's thread.
  package func isIsolatingCurrentContext() -> Bool? { isOnLoop }

  // MARK: Running

  /// Takes the loop over to the calling thread and runs it until `stop`.
  ///
  /// What is still queued then runs when `run` is called again; the loop stays with this thread.
  ///
  /// - Throws: what epoll_wait(2) says; only a bug can make it fail.
  package func run() throws(Errno) {
    owner.store(ThreadIdentity.current.rawValue, ordering: .sequentiallyConsistent)
    precondition(!isRunning, "the loop is running")
    isRunning = true
    defer { isRunning = false }
    isStopping = false
    while !isStopping {
      try turn(mayWait: true)
    }
  }

  /// One turn without waiting, on the loop's thread: for tests and for the last words at shutdown.
  package func runOnce() throws(Errno) {
    requireLoop()
    try turn(mayWait: false)
  }

  /// Makes `run` return after its present turn.
  ///
  /// From any thread, and before `run` too.
  package func stop() {
    if incoming.stop() { wakeUp.raise() }
  }

  // MARK: Descriptors

  /// Waits for a descriptor.
  ///
  /// The loop keeps the handler until `deregister`, which comes before the descriptor is closed.
  ///
  /// A descriptor that epoll does not take because it never waits (a regular file) is announced in every turn while
  /// there is any interest in it.
  ///
  /// - Throws: `ENOSPC`, `ENOMEM`, or `EEXIST` for a descriptor that is registered already.
  package func register(
    _ descriptor: borrowing FileDescriptor, _ interest: ReadyEvents, _ handler: any EventHandler
  ) throws(Errno) -> Registration {
    requireLoop()
    let number = descriptor.number
    let registration = handlers.nextRegistration()
    var isAlwaysReady = false
    do throws(Errno) {
      try epoll.add(number, interest, token: registration.rawValue)
    } catch {
      guard error == .notPermitted else { throw error }
      isAlwaysReady = true
      alwaysReady.append(registration)
    }
    handlers.insert(
      HandlerTable.Entry(
        registration: registration, descriptor: number, handler: handler, interest: interest,
        isAlwaysReady: isAlwaysReady))
    return registration
  }

  /// Changes the events that are waited for; costs nothing if they are the same as before.
  ///
  /// A registration that has ended is ignored.
  package func update(_ registration: Registration, _ interest: ReadyEvents) throws(Errno) {
    requireLoop()
    guard let entry = handlers[registration], entry.interest.rawValue != interest.rawValue else { return }
    if !entry.isAlwaysReady { try epoll.modify(entry.descriptor, interest, token: registration.rawValue) }
    handlers.setInterest(interest, of: registration)
  }

  /// Ends a registration and releases its handler.
  ///
  /// Events that were already fetched for it are dropped. With `willClose` the caller closes the descriptor in this turn,
  /// and no other of the process names the same open file: the kernel then forgets it without being told. A child holds a
  /// duplicate until it executes its program; what is announced for that names a registration that has ended.
  package func deregister(_ registration: Registration, willClose: Bool = false) {
    requireLoop()
    guard let entry = handlers.remove(registration) else { return }
    if entry.isAlwaysReady {
      alwaysReady.removeAll { $0 == registration }
    } else if !willClose {
      epoll.remove(entry.descriptor)
    }
  }

  /// Calls an observer in every turn from now on, behind the handlers of its events.
  package func addObserver(_ observer: any TurnObserver) {
    requireLoop()
    turnObservers.append(observer)
  }

  /// How many descriptors are registered.
  package var registrationCount: Int { handlers.count }

  // MARK: Timers

  /// Calls `action` once, at a time since boot (`BootClock`); in the present or next turn if that is past.
  package func schedule(at deadline: Duration, _ action: @escaping () -> Void) -> TimerID {
    requireLoop()
    let timer = timers.schedule(at: deadline.wholeNanoseconds, action)
    setAlarm()
    return timer
  }

  /// Calls `action` once, after a while.
  package func schedule(after delay: Duration, _ action: @escaping () -> Void) -> TimerID {
    schedule(at: BootClock.now + delay, action)
  }

  /// Cancels a call.
  ///
  /// - Returns: false if it was made or cancelled before.
  @discardableResult
  package func cancel(_ timer: TimerID) -> Bool {
    requireLoop()
    return timers.cancel(timer)
  }

  // MARK: A turn

  private var isOnLoop: Bool {
    @inline(__always) get { owner.load(ordering: .relaxed) == ThreadIdentity.current.rawValue }
  }

  /// Traps off the loop's thread.
  @inline(__always)
  func requireLoop() {
    precondition(isOnLoop, "for the loop's thread only")
  }

  private func append(_ work: LoopQueue.Work) {
    if isOnLoop {
      local.append(work)
    } else if incoming.append(work) {
      wakeUp.raise()
    }
  }

  private func turn(mayWait: Bool) throws(Errno) {
    turns &+= 1
    let isIdle = localHead == local.count && !hasReadyFile()
    let count = try epoll.wait(blocking: mayWait && isIdle)
    for index in 0..<count {
      let (token, events) = epoll.event(at: index)
      deliver(token, events)
    }
    if !alwaysReady.isEmpty { deliverFiles() }
    for index in turnObservers.indices { turnObservers[index].handlersWereCalled() }
    if localHead < local.count { runJobs() }
    if timerIsDue { callTimers() }
  }

  @inline(__always)
  private func deliver(_ token: UInt64, _ events: ReadyEvents) {
    if let entry = handlers[Registration(rawValue: token)] {
      entry.handler.ready(events)
    } else if token == EventLoop.wakeToken {
      wakeUp.clear()
      fetch()
    } else if token == EventLoop.timerToken {
      alarm.clear()
      timerIsDue = true
    }
  }

  private func fetch() {
    if incoming.take(&fetched) { isStopping = true }
    local.append(contentsOf: fetched)
    fetched.removeAll(keepingCapacity: true)
  }

  private func hasReadyFile() -> Bool {
    alwaysReady.contains { handlers[$0].map { !$0.interest.isEmpty } ?? false }
  }

  private func deliverFiles() {
    for registration in alwaysReady {
      guard let entry = handlers[registration], !entry.interest.isEmpty else { continue }
      entry.handler.ready(entry.interest)
    }
  }

  private func runJobs() {
    let end = min(local.count, localHead + EventLoop.jobsPerTurn)
    while localHead < end {
      let work = local[localHead]
      localHead += 1
      switch work {
      case .call(let call): call()
      case .job(let job):
        // Each job is taken from the queue once and run once, on this executor's own thread.
        unsafe job.runSynchronously(on: asUnownedSerialExecutor())
      }
    }
    guard localHead == local.count else { return }
    local.removeAll(keepingCapacity: true)
    localHead = 0
  }

  private func callTimers() {
    timerIsDue = false
    alarmTime = .max
    let now = BootClock.nanoseconds
    while let action = timers.takeDue(at: now) { action() }
    setAlarm()
  }

  /// Sets the alarm if it would go off too late.
  ///
  /// One that goes off too early, because its timer was cancelled, costs a wake-up, which is less than a system call
  /// for each cancelled timer.
  private func setAlarm() {
    guard let deadline = timers.nextDeadline(), deadline < alarmTime else { return }
    alarm.set(to: deadline)
    alarmTime = deadline
  }
}
