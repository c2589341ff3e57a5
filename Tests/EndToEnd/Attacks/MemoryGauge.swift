import Glibc
import LinuxSystem

/// What a process holds of its own (proc(5), `smaps_rollup`): the most that was seen.
struct MemoryGauge {
  private let pid: Int32
  /// In KiB.
  let base: Int
  /// In KiB.
  private(set) var most: Int

  /// Looks for the first time.
  init(of pid: Int32) throws {
    self.pid = pid
    base = try Self.kibibytes(of: pid)
    most = base
  }

  /// How much more than at first there was, in KiB.
  var growth: Int { most - base }

  /// Looks again.
  mutating func look() throws { most = max(most, try Self.kibibytes(of: pid)) }

  /// What is dirty and nobody else's, in memory or swapped out.
  private static func kibibytes(of pid: Int32) throws -> Int {
    let text = String(decoding: try Directory.bytes(of: "/proc/\(pid)/smaps_rollup"), as: UTF8.self)
    let sizes = text.split(separator: "\n").compactMap { line -> Int? in
      let words = line.split(separator: " ")
      guard words.first == "Private_Dirty:" || words.first == "Swap:", words.count > 1 else { return nil }
      return Int(words[1])
    }
    guard sizes.count == 2 else { throw TestFailure("smaps_rollup is not as proc(5) says") }
    return sizes.reduce(0, +)
  }
}
