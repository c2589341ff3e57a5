import Glibc
import LinuxSystem
import TestSupport
import Testing

/// What a well-behaved client noticed of an attack, and what the daemon held meanwhile: taken and judged in the same way
/// for every attack.
struct Measurement {
  /// How much a daemon may hold beyond what it held before, in KiB: room for every buffer that the limits allow over all
  /// connections, and far below what a small machine has.
  static let usualMemory = 64 << 10
  /// How many times as long as in quiet a well-behaved client may wait, at the 99th percentile.
  static let slowdown = 5
  /// The least that counts as its quiet wait.
  ///
  /// A thread that is woken may have to wait for the slice of another one: 1.5 ms on two processors, 2.8 ms on more (the
  /// Linux scheduler's `base_slice_ns`). A quiet wait below that tells how idle the machine was, and nothing of the daemon.
  static let leastQuiet = Duration.milliseconds(2)
  /// How long the quiet before each attack is measured: a thousand questions, of which the ten slowest decide.
  private static let quietLength = Duration.seconds(1)

  /// What the attack is called in the table.
  let name: String
  /// What the client saw before.
  let quiet: WellBehavedClient.Record
  /// What it saw meanwhile.
  let attacked: WellBehavedClient.Record
  /// How much more the daemon held at most, in KiB.
  let growth: Int
  /// How much more it may hold, in KiB.
  let memory: Int
  /// How many messages, calls or events the attack came to.
  let count: Int

  /// Measures a well-behaved client in quiet and beside an attack, and the daemon's memory.
  ///
  /// - Parameters:
  ///   - name: what the attack is called.
  ///   - pid: the daemon's.
  ///   - socket: where it listens.
  ///   - method: what the client asks over and over.
  ///   - memory: how much more the daemon may hold, in KiB.
  ///   - attack: does it; how many messages, calls or events that were.
  /// - Returns: what the client and the daemon's memory did before and meanwhile.
  /// - Throws: what `attack` throws, and errors of `/proc` (proc(5)), which shows a daemon's memory to root only.
  static func take(
    _ name: String, of pid: Int32, on socket: String, asking method: String = "getAccessToken",
    memory: Int = usualMemory, during attack: () throws -> Int
  ) throws -> Measurement {
    Processor.first.hold(pid)
    let quiet = try WellBehavedClient.record(socket, asking: method) { pass(quietLength) }
    var count = 0
    var attacked = WellBehavedClient.Record()
    let growth = try MemoryGauge.growth(of: pid) {
      attacked = try WellBehavedClient.record(socket, asking: method) { count = try attack() }
    }
    return Measurement(name: name, quiet: quiet, attacked: attacked, growth: growth, memory: memory, count: count)
  }

  /// Lets a measurement take its time.
  static func pass(_ length: Duration) {
    let end = BootClock.now + length
    while BootClock.now < end { usleep(20_000) }
  }

  /// The longest that the client may wait at the 99th percentile.
  var bound: Duration { max(quiet.quantile(0.99), Self.leastQuiet) * Self.slowdown }

  // MARK: Verdict

  /// Prints the table of some attacks and expects what must hold of each: no request of the client is refused, it hardly
  /// waits longer than in quiet, and the daemon holds little more than before.
  static func expectGood(_ measurements: [Measurement]) {
    print(([head] + measurements.map(\.row)).joined(separator: "\n"))
    for measurement in measurements {
      #expect(measurement.attacked.complaints == [], "\(measurement.name)")
      #expect(!measurement.attacked.latencies.isEmpty && measurement.count > 0, "\(measurement.name)")
      #expect(measurement.attacked.quantile(0.99) <= measurement.bound, "\(measurement.row)")
      #expect(measurement.growth <= measurement.memory, "\(measurement.row)")
    }
  }

  private static let head = """
    Bound of the p99: \(slowdown) × the quiet p99, which counts as \(text(leastQuiet)) ms at least.
    | attack | quiet p50 (ms) | quiet p99 | attacked p50 | attacked p99 | bound | memory over its base | bound | count |
    |---|---|---|---|---|---|---|---|---|
    """

  /// A row of the table.
  private var row: String {
    let times = [quiet, attacked].flatMap { [$0.quantile(0.5), $0.quantile(0.99)] } + [bound]
    let columns = times.map(Self.text) + ["\(growth / 1024) MiB", "\(memory / 1024) MiB", "\(count)"]
    return "| \(name) | \(columns.joined(separator: " | ")) |"
  }

  /// A time in milliseconds, with two digits behind the point.
  private static func text(_ duration: Duration) -> String {
    let microseconds = duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
    return "\(Double(microseconds / 10) / 100)"
  }
}
