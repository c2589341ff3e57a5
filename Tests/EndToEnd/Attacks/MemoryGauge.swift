import Glibc
import LinuxSystem
import Synchronization
import TestSupport

/// What a process holds of its own (proc(5), `smaps_rollup`), watched by a thread.
final class MemoryGauge: Sendable {
  /// Between two looks, in microseconds.
  private static let pause: UInt32 = 20_000

  private let pid: Int32
  /// In KiB.
  private let base: Int
  private let state: Mutex<(most: Int, isStopped: Bool)>

  private init(of pid: Int32) throws {
    let base = try Self.kibibytes(of: pid)
    self.pid = pid
    self.base = base
    state = Mutex((most: base, isStopped: false))
  }

  /// The most that a process held while `body` ran, beyond what it held before, in KiB.
  ///
  /// - Throws: what `body` throws; `EACCES` where the process may not be looked at.
  static func growth(of pid: Int32, during body: () throws -> Void) throws -> Int {
    let gauge = try MemoryGauge(of: pid)
    let thread = Threads.start { gauge.run() }
    defer {
      gauge.state.withLock { $0.isStopped = true }
      Threads.join(thread)
    }
    try body()
    gauge.look()
    return gauge.state.withLock { $0.most } - gauge.base
  }

  private func run() {
    while !state.withLock({ $0.isStopped }) {
      look()
      usleep(Self.pause)
    }
  }

  private func look() {
    guard let held = try? Self.kibibytes(of: pid) else { return }
    state.withLock { $0.most = max($0.most, held) }
  }

  /// What is dirty and nobody else's, in memory or swapped out.
  private static func kibibytes(of pid: Int32) throws -> Int {
    try sizes(["Private_Dirty:", "Swap:"], in: "/proc/\(pid)/smaps_rollup").reduce(0, +)
  }

  /// How much of a process is in memory, and how much was at most since it began (proc(5), `VmRSS`, `VmHWM`), in KiB.
  static func resident(_ pid: Int32) throws -> (now: Int, peak: Int) {
    let sizes = try sizes(["VmRSS:", "VmHWM:"], in: "/proc/\(pid)/status").sorted()
    return (sizes[0], sizes[1])
  }

  /// The sizes of some lines of a file in `/proc`, in KiB.
  private static func sizes(_ names: [String], in path: String) throws -> [Int] {
    let text = String(decoding: try Directory.bytes(of: path), as: UTF8.self)
    let sizes = text.split(separator: "\n").compactMap { line -> Int? in
      let words = line.split { $0 == " " || $0 == "\t" }
      guard let name = words.first, names.contains(String(name)), words.count > 1 else { return nil }
      return Int(words[1])
    }
    guard sizes.count == names.count else { throw TestFailure("\(path) is not as proc(5) says") }
    return sizes
  }
}
