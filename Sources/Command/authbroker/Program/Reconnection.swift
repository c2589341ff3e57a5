import AuthBrokerClient
import BrokerProtocol
import LinuxSystem

/// Finds the broker again after a connection was lost, with pauses that grow, a limited number of times.
///
/// For commands that wait: what they wait for outlives the broker. One that was killed is started again where this
/// command line may start one; another one's is waited for.
struct Reconnection {
  /// How long a new broker is waited for: a service manager brings it back within less.
  private static let patience = Duration.seconds(10)
  /// The first pause: longer than a restart takes at its best.
  private static let firstPause = Duration.milliseconds(100)
  /// The longest pause, so that a broker that has come back is found at once for a person.
  private static let longestPause = Duration.seconds(2)
  /// A broker that lived for so long does not end for the same reason as the one before.
  private static let usualLife = Duration.seconds(10)
  /// How many brokers may be lost in a row: one more start would end like the others.
  private static let lossLimit = 5

  private let context: Context
  private var connectedAt = BootClock.now
  private var losses = 0

  /// A way back for a command that has just connected.
  init(_ context: Context) { self.context = context }

  /// Connects again.
  ///
  /// - Parameter mayStart: whether a broker may be started, where the command line allows it.
  /// - Returns: a new connection.
  /// - Throws: a failure with code 8 if there is no broker for too long, or one after the other ends; any other failure
  ///   of a start at once.
  mutating func connect(mayStart: Bool = true) throws(CommandFailure) -> BlockingConnection {
    let connection = try connect(mayStart, until: BootClock.now + Self.patience, unless: nil)
    // Without one, nothing but a signal would have ended the waiting.
    guard let connection else { throw CommandFailure(.brokerUnreachable, "the wait for a broker was interrupted") }
    return connection
  }

  /// Connects again, unless a signal comes first.
  ///
  /// - Parameters:
  ///   - wasStopped: whether the last broker was stopped in order: then none is started, and the next one is waited for
  ///     without an end.
  ///   - held: the signals that end the waiting; they are left to be taken.
  /// - Returns: a new connection; nil where a signal came.
  /// - Throws: as ``connect(mayStart:)``.
  mutating func connect(
    wasStopped: Bool, unless held: borrowing HeldSignals
  ) throws(CommandFailure) -> BlockingConnection? {
    if wasStopped { losses = 0 }
    let deadline = wasStopped ? nil : BootClock.now + Self.patience
    return try connect(!wasStopped, until: deadline, unless: held.pending.descriptor.number)
  }

  private mutating func connect(
    _ mayStart: Bool, until deadline: Duration?, unless number: Int32?
  ) throws(CommandFailure) -> BlockingConnection? {
    losses = BootClock.now - connectedAt < Self.usualLife ? losses + 1 : 1
    guard losses <= Self.lossLimit else {
      throw CommandFailure(.brokerUnreachable, "the broker ends again and again", next: NextCommand("see", "doctor"))
    }
    var pause = Self.firstPause
    while true {
      do throws(CommandFailure) {
        let connection = try context.connect(mayStart: mayStart)
        connectedAt = BootClock.now
        return connection
      } catch {
        let isLate = deadline.map { BootClock.now + pause >= $0 } ?? false
        guard error.exitCode == .brokerUnreachable, !isLate else { throw error }
      }
      var poll = PollSet(count: 1)
      if let number { poll.watch(0, number, readable: true) }
      if let ready = try? poll.wait(atMost: pause), ready > 0 { return nil }
      pause = min(pause * 2, Self.longestPause)
    }
  }
}
