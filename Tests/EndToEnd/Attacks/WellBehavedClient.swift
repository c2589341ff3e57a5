import Glibc
import LinuxSystem
import Synchronization
import TestSupport

/// A client on a thread of its own that asks one thing over and over, one request at a time, and notes how long each answer
/// took.
final class WellBehavedClient: Sendable {
  /// What it has seen.
  struct Record: Sendable {
    /// How long each answer took.
    var latencies: [Duration] = []
    /// Answers that were refusals, and ends of the connection.
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
  private let method: String

  private init(_ path: String, _ method: String) {
    self.path = path
    self.method = method
  }

  /// Lets a client call a method while `body` runs, which begins once the client has been answered for the first time:
  /// what `body` does may keep new connections out.
  static func record(
    _ path: String, asking method: String = "getAccessToken", during body: () throws -> Void
  ) throws -> Record {
    let client = WellBehavedClient(path, method)
    let thread = Threads.start { client.run() }
    do {
      _ = Patience.wait { client.hasBegun }
      try body()
    } catch {
      client.stop(thread)
      throw error
    }
    client.stop(thread)
    return client.state.withLock { $0.record }
  }

  private var hasBegun: Bool {
    state.withLock { !$0.record.latencies.isEmpty || !$0.record.complaints.isEmpty }
  }

  private func stop(_ thread: pthread_t) {
    state.withLock { $0.isStopped = true }
    Threads.join(thread)
  }

  private func run() {
    Processor.second.hold()
    do {
      let wire = try SocketWire(path)
      while !state.withLock({ $0.isStopped }) {
        let start = BootClock.now
        let refusal = try wire.refusal(method)
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
