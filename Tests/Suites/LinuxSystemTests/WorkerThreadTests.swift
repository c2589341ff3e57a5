import Glibc
import LinuxSystem
import Synchronization
import TestSupport
import Testing

private actor Clerk {
  let thread: WorkerThread
  var log: [Int] = []
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  init(_ thread: WorkerThread) { self.thread = thread }

  func note(_ number: Int) -> ThreadIdentity {
    thread.preconditionIsolated()
    log.append(number)
    return .current
  }
}

@Suite(.standardTimeLimit) struct WorkerThreadTests {
  @Test func `an actor's work runs in order on the one thread`() async {
    let worker = WorkerThread(name: "clerk")
    let clerk = Clerk(worker)
    var threads: [ThreadIdentity] = []
    for number in 0..<100 { threads.append(await clerk.note(number)) }
    #expect(threads.allSatisfy { $0 == threads[0] })
    #expect(await clerk.log == Array(0..<100))
    #expect(worker.isIsolatingCurrentContext() == false)
    worker.stop()
  }

  @Test func `a job after the stop starts the thread anew`() async {
    let worker = WorkerThread(name: "a name longer than fifteen bytes")
    let clerk = Clerk(worker)
    for number in 0..<20 {
      _ = await clerk.note(number)
      worker.stop()
      worker.stop()
    }
    #expect(await clerk.log.count == 20)
    worker.stop()
  }

  @Test func `what is scheduled is done on the thread, in its time, and not behind its end`() async throws {
    let worker = WorkerThread(name: "clock")
    let begun = BootClock.now
    let done = Mutex<[(number: Int, at: Duration, isOnThread: Bool)]>([])
    for (number, delay) in [30, 10, 20].enumerated() {
      worker.schedule(after: .milliseconds(delay)) {
        done.withLock { $0.append((number, BootClock.now - begun, worker.isIsolatingCurrentContext() == true)) }
      }
    }
    try await OwnThread.run {
      #expect(Patience.wait { done.withLock { $0.count } == 3 })
      worker.schedule(after: .seconds(3600)) { done.withLock { $0 = [] } }
      worker.stop()
    }
    let all = done.withLock { $0 }
    #expect(all.map(\.isOnThread) == [true, true, true])
    for entry in all { #expect(entry.at >= .milliseconds([30, 10, 20][entry.number])) }
  }

  @Test func `a task's work that belongs to no actor is done on its thread`() async {
    func name() async -> String {
      var name = [CChar](repeating: 0, count: 16)
      guard let file = fopen("/proc/thread-self/comm", "r") else { return "" }
      defer { fclose(file) }
      fgets(&name, Int32(name.count), file)
      return String(decoding: name.prefix { $0 > 10 }.map(UInt8.init), as: UTF8.self)
    }
    let thread = TaskThread(name: "no-actor")
    #expect(await withTaskExecutorPreference(thread) { await name() } == "no-actor")
  }

  @Test func `many tasks at once lose no job`() async {
    let worker = WorkerThread(name: "many")
    let clerk = Clerk(worker)
    await withTaskGroup { group in
      for number in 0..<1000 { group.addTask { _ = await clerk.note(number) } }
    }
    #expect(await clerk.log.sorted() == Array(0..<1000))
    worker.stop()
  }

  @Test func `a machine without threads refuses the start, and jobs are done all the same`() async throws {
    let hasThreads = Atomic(false)
    let worker = WorkerThread(name: "clerk") { call throws(Errno) in
      guard hasThreads.load(ordering: .relaxed) else { throw .again }
      return try SystemThread(call)
    }
    #expect(throws: Errno.again) { try worker.start() }
    let clerk = Clerk(worker)
    // On the caller's own threads, one at a time.
    await withTaskGroup { group in
      for number in 0..<1000 { group.addTask { _ = await clerk.note(number) } }
    }
    #expect(await clerk.log.sorted() == Array(0..<1000))
    #expect(worker.isIsolatingCurrentContext() == false)
    worker.stop()
    hasThreads.store(true, ordering: .relaxed)
    // Refused as long as the last of those threads is on its way out of the queue.
    let isStarted = try await OwnThread.run { Patience.wait { (try? worker.start()) != nil } }
    #expect(isStarted)
    let first = await clerk.note(1000)
    #expect(await clerk.note(1001) == first)
    worker.stop()
  }
}
