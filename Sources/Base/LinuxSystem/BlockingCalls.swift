#if !hasFeature(Embedded)
import Synchronization

/// Runs calls that block, such as a read or the run of another program, beside each other on threads of their own.
///
/// Calls with the same key run one after the other, in the order in which they came: what one of them waits for holds
/// up those of its key alone. One thread lasts from `start` to `stop`; others are started as they are needed, and end
/// when no call is left for them. Where the machine has none left, calls wait for the threads that are there, and run on
/// the caller's where there is none at all.
package final class BlockingCalls<Key: Hashable & Sendable>: Sendable {
  private struct Call {
    let key: Key
    let isLong: Bool
    let body: @Sendable () -> Void
  }

  private struct State {
    var waiting: [Call] = []
    /// The keys of the calls that run, and whether they are long ones.
    var running: [Key: Bool] = [:]
    var threadCount = 0
    /// The thread that lasts.
    var lasting: SystemThread?
    /// Whether it waits for a call, and has not been woken for one.
    var isIdle = false
    var isStopping = false
    /// The callers that wait until there is no call.
    var awaitingEnd: [CheckedContinuation<Void, Never>] = []

    /// The first call that can run now.
    func next(_ longLimit: Int) -> Int? {
      let hasRoom = running.values.count { $0 } < longLimit
      return waiting.firstIndex { running[$0.key] == nil && (hasRoom || !$0.isLong) }
    }
  }

  private let name: String
  private let limit: Int
  private let longLimit: Int
  private let makeThread: @Sendable (@escaping @Sendable () -> Void) throws(Errno) -> SystemThread
  private let state = Mutex(State())
  private let work = Semaphore()

  /// Prepares the calls; there is no thread yet.
  ///
  /// - Parameters:
  ///   - name: what process listings show for the threads; 15 bytes at most are kept.
  ///   - limit: the most threads, and so calls, at once.
  ///   - longLimit: the most of them that run a long call: the others are left to short ones.
  ///   - makeThread: starts a thread; for tests of a machine that has none left.
  package init(
    name: String, limit: Int, longLimit: Int,
    makeThread: @escaping @Sendable (@escaping @Sendable () -> Void) throws(Errno) -> SystemThread = {
      call throws(Errno) in
      try SystemThread(call)
    }
  ) {
    (self.name, self.limit, self.longLimit, self.makeThread) = (name, limit, longLimit, makeThread)
  }

  /// Starts the thread that lasts, unless it runs.
  ///
  /// - Throws: what pthread_create(3) says; `EAGAIN` where no more threads are allowed.
  package func start() throws(Errno) {
    try state.withLock { state throws(Errno) in
      guard state.lasting == nil else { return }
      state.lasting = try makeThread { [self] in serveToTheEnd() }
      state.threadCount += 1
    }
  }

  /// Runs a call.
  ///
  /// - Parameters:
  ///   - key: what it waits for; no other call with this key runs meanwhile.
  ///   - isLong: whether it may take seconds.
  ///   - body: the call.
  /// - Returns: its result.
  package func run<Result: Sendable>(
    _ key: Key, isLong: Bool, _ body: @escaping @Sendable () -> Result
  ) async -> Result {
    await withCheckedContinuation { continuation in
      enqueue(Call(key: key, isLong: isLong) { continuation.resume(returning: body()) })
    }
  }

  private func enqueue(_ call: Call) {
    let mustBorrow = state.withLock { state in
      state.waiting.append(call)
      // What cannot run yet is found by the thread of the call that it waits for.
      guard state.next(longLimit) != nil else { return false }
      if state.isIdle {
        state.isIdle = false
        work.signal()
        return false
      }
      guard state.threadCount < limit else { return false }
      let thread = try? makeThread { [self] in
        ThreadIdentity.setName(name)
        serve()
      }
      thread?.detach()
      // The threads that are there find it once they are free.
      guard thread != nil || state.threadCount == 0 else { return false }
      state.threadCount += 1
      return thread == nil
    }
    if mustBorrow { serve() }
  }

  /// Runs calls as long as one can run.
  private func serve() {
    while let call = take(orElse: { $0.threadCount -= 1 }) { perform(call) }
  }

  /// Runs calls until the end, on the thread that lasts.
  private func serveToTheEnd() {
    ThreadIdentity.setName(name)
    var hasEnded = false
    while !hasEnded {
      let call = take { state in
        hasEnded = state.isStopping
        state.isIdle = !hasEnded
      }
      if let call { perform(call) } else if !hasEnded { work.wait() }
    }
  }

  private func take(orElse none: (inout State) -> Void) -> Call? {
    state.withLock { state in
      guard let index = state.next(longLimit) else {
        none(&state)
        return nil
      }
      let call = state.waiting.remove(at: index)
      state.running[call.key] = call.isLong
      return call
    }
  }

  private func perform(_ call: Call) {
    call.body()
    let awaiting = state.withLock { state in
      state.running[call.key] = nil
      guard state.running.isEmpty, state.waiting.isEmpty else { return [CheckedContinuation<Void, Never>]() }
      defer { state.awaitingEnd = [] }
      return state.awaitingEnd
    }
    for continuation in awaiting { continuation.resume() }
  }

  /// Waits until every call has returned, and ends the thread that lasts.
  package func stop() async {
    await withCheckedContinuation { continuation in
      let isQuiet = state.withLock { state in
        let isQuiet = state.running.isEmpty && state.waiting.isEmpty
        if !isQuiet { state.awaitingEnd.append(continuation) }
        return isQuiet
      }
      if isQuiet { continuation.resume() }
    }
    let thread = state.withLock { state in
      guard !state.isStopping, let thread = state.lasting else { return nil as SystemThread? }
      state.isStopping = true
      return thread
    }
    guard let thread else { return }
    work.signal()
    // `isStopping` lets exactly one caller come here for it; the thread has nothing left to do.
    thread.join()
    state.withLock { state in
      (state.lasting, state.isStopping, state.isIdle) = (nil, false, false)
      state.threadCount -= 1
    }
  }
}
#endif
