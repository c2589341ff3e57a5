package import LinuxSystem
import Synchronization

/// Lines on their way to a descriptor that may make its writer wait, such as a pipe that is not read, or a slow disk.
///
/// A thread of its own writes them, so that logging never makes the caller wait. The queue is bounded: a line that finds
/// no room is dropped and counted, and the count is written in its place as soon as there is room again. The flags of
/// the descriptor are left alone: `O_NONBLOCK` would hold for everyone who shares the open file (open(2)).
package final class LogQueue: Sendable {
  /// How many bytes wait at most: some hundred to a thousand lines, which a burst of failures does not reach.
  package static let byteLimit = 256 << 10

  private struct State {
    var lines: [[UInt8]] = []
    var byteCount = 0
    /// How many lines were dropped since the last one that found room.
    var dropped = 0
    /// Whether the thread has a line in hand.
    var isWriting = false
    var hasThread = false
  }

  private let format: LogFormat
  private let byteLimit: Int
  private let write: @Sendable ([UInt8]) -> Void
  private let state = Mutex(State())
  private let work = Semaphore()
  private let progress = Semaphore()

  /// A queue that nothing empties before ``start()``.
  ///
  /// - Parameters:
  ///   - format: how the count of dropped lines is written.
  ///   - byteLimit: how many bytes wait at most.
  ///   - write: writes one line; may wait as long as it likes. Called by one thread at a time.
  package init(
    format: LogFormat, byteLimit: Int = LogQueue.byteLimit, write: @escaping @Sendable ([UInt8]) -> Void
  ) {
    self.format = format
    self.byteLimit = byteLimit
    self.write = write
  }

  /// Starts the thread that writes; it stays for the life of the process.
  ///
  /// Signals must be blocked by then.
  ///
  /// - Throws: what pthread_create(3) says.
  package func start() throws(Errno) {
    guard !state.withLock({ $0.hasThread }) else { return }
    let thread = try SystemThread { [self] in run() }
    thread.detach()
    state.withLock { $0.hasThread = true }
  }

  /// Takes a line, or counts it where there is no room; never waits.
  package func append(_ line: [UInt8]) {
    let isTaken = state.withLock { state in
      var lines = [line]
      if state.dropped > 0 { lines.insert(format.dropped(state.dropped), at: 0) }
      let count = lines.reduce(0) { $0 + $1.count }
      guard state.byteCount + count <= byteLimit else {
        state.dropped += 1
        return false
      }
      state.lines += lines
      state.byteCount += count
      state.dropped = 0
      return true
    }
    if isTaken { work.signal() }
  }

  /// Waits until everything is written, for the end of the process.
  ///
  /// - Parameter limit: how long; what is not written by then is lost with the process.
  /// - Returns: whether everything was written.
  @discardableResult
  package func flush(within limit: Duration) -> Bool {
    let end = BootClock.now + limit
    work.signal()
    while true {
      let isDone = state.withLock { $0.lines.isEmpty && !$0.isWriting && $0.dropped == 0 }
      if isDone { return true }
      let rest = end - BootClock.now
      guard rest > .zero, state.withLock({ $0.hasThread }) else { return false }
      progress.wait(atMost: rest)
    }
  }

  private func run() {
    ThreadIdentity.setName("log")
    while true {
      work.wait()
      while let line = next() {
        write(line)
        state.withLock { $0.isWriting = false }
        progress.signal()
      }
      progress.signal()
    }
  }

  /// The next line; behind the last one, the count of those that found no room.
  private func next() -> [UInt8]? {
    state.withLock { state in
      if state.lines.isEmpty {
        guard state.dropped > 0 else { return nil }
        defer { state.dropped = 0 }
        state.isWriting = true
        return format.dropped(state.dropped)
      }
      let line = state.lines.removeFirst()
      state.byteCount -= line.count
      state.isWriting = true
      return line
    }
  }
}
