/// Whether the broker lives whose answer is awaited.
///
/// A provider may take its time, and so may a person; a broker answers `ping` meanwhile. One that has said nothing for a
/// while is asked that, and one that does not answer it was stopped, or hangs.
struct Pulse {
  /// The next step.
  enum Step {
    /// To wait on.
    case wait
    /// To send a `ping`.
    case ask
    /// To give up.
    case end
  }

  /// How long nothing may be heard at first, before it is asked.
  private static let firstSilence = Duration.seconds(3)
  /// The same once something was heard.
  private static let silence = Duration.seconds(30)
  /// How long the answer may take.
  private static let patience = Duration.seconds(2)
  /// How long a broker that is just started behind a service manager's socket may take to its first word.
  private static let start = Duration.seconds(55)
  /// A process that wakes so much later has slept, and the broker with it.
  private static let sleep = Duration.seconds(1)

  /// When the next step is due.
  private(set) var due: Duration
  private var isAsked = false
  private var isHeard = false

  /// Begins to listen.
  init(at now: Duration) { due = now + Self.firstSilence }

  /// Notes that something was heard.
  mutating func beat(at now: Duration) {
    (isAsked, isHeard) = (false, true)
    due = now + Self.silence
  }

  /// Returns the next step, and notes that it is done.
  ///
  /// - Parameters:
  ///   - now: the time.
  ///   - mayBeStarting: whether there may be no broker yet at the other end.
  /// - Returns: the step.
  mutating func step(at now: Duration, mayBeStarting: @autoclosure () -> Bool) -> Step {
    guard now >= due else { return .wait }
    guard isAsked else {
      isAsked = true
      due = now + Self.patience + (!isHeard && mayBeStarting() ? Self.start : .zero)
      return .ask
    }
    guard now - due < Self.sleep else {
      due = now + Self.patience
      return .wait
    }
    return .end
  }
}
