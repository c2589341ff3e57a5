import Glibc
import LinuxSystem
import Synchronization
import TestSupport

/// A client on a thread of its own that asks for its token, one request at a time, and notes how long each answer took.
final class WellBehavedClient: Sendable {
  /// What it has seen.
  struct Record: Sendable {
    /// How long each answer took.
    var latencies: [Duration] = []
    /// Answers that were no token, and ends of the connection.
    var complaints: [String] = []

    /// The time that a share of all answers took at most, in nearest-rank order; zero where there is no answer.
    func quantile(_ share: Double) -> Duration {
      let sorted = latencies.sorted()
      guard !sorted.isEmpty else { return .zero }
      return sorted[min(sorted.count - 1, Int((Double(sorted.count) * share).rounded(.up)) - 1)]
    }
  }

  /// Between two questions; a program that asks for each of its API calls asks no more often.
  private static let pause: UInt32 = 1000

  private let state = Mutex((record: Record(), isStopped: false))
  private let path: String

  private init(_ path: String) { self.path = path }

  /// Lets a client ask while `body` runs.
  static func record(_ path: String, during body: () throws -> Void) throws -> Record {
    let client = WellBehavedClient(path)
    let thread = Threads.start { client.run() }
    defer { Threads.join(thread) }
    do { try body() } catch {
      client.stop()
      throw error
    }
    client.stop()
    return client.state.withLock { $0.record }
  }

  private func stop() { state.withLock { $0.isStopped = true } }

  private func run() {
    Processor.second.hold()
    do {
      let wire = try SocketWire(path)
      while !state.withLock({ $0.isStopped }) {
        let start = BootClock.now
        let refusal = try wire.refusal("getAccessToken")
        let latency = BootClock.now - start
        state.withLock { state in
          state.record.latencies.append(latency)
          if let refusal { state.record.complaints.append(refusal) }
        }
        usleep(Self.pause)
      }
    } catch { state.withLock { $0.record.complaints.append("\(error)") } }
  }
}
