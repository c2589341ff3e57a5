import Glibc
import LinuxSystem
import Synchronization
import TestSupport

/// Clients that replay everything that was kept, on two threads of the lowest priority, and stay until all have seen it.
final class ReplayCrowd: Sendable {
  private let complaints: Mutex<[String]> = Mutex([])
  private let events = Atomic(0)
  private let threads: Mutex<[pthread_t]> = Mutex([])

  /// Begins, with a client for each pace.
  init(_ paces: [ReplayReader.Pace], on path: String, through last: Int) {
    let halves = (0..<2).map { half in paces.indices.filter { $0 % 2 == half }.map { paces[$0] } }
    let begun = halves.map { paces in
      Threads.start { self.run(paces, path, last) }
    }
    threads.withLock { $0 = begun }
  }

  /// Waits until all have seen everything; how many events that were, and what was not as it should be.
  func finish() -> (events: Int, complaints: [String]) {
    for thread in threads.withLock({ $0 }) { Threads.join(thread) }
    return (events.load(ordering: .relaxed), complaints.withLock { $0 })
  }

  private func run(_ paces: [ReplayReader.Pace], _ path: String, _ last: Int) {
    setpriority(Int32(PRIO_PROCESS.rawValue), 0, 19)
    Processor.first.hold()
    do {
      let readers = try paces.map { try ReplayReader(path, $0, through: last) }
      let end = Patience.end
      while let slowest = readers.first(where: { !$0.isFinished }) {
        guard BootClock.now < end else { throw TestFailure("after event \(slowest.sequence) of \(last) nothing came") }
        var isBusy = false
        for reader in readers where !reader.isFinished { isBusy = try reader.step() || isBusy }
        if !isBusy { usleep(500) }
      }
      events.add(readers.reduce(0) { $0 + $1.sequence }, ordering: .relaxed)
    } catch { complaints.withLock { $0.append("\(error)") } }
  }
}
