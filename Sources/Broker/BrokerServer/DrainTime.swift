/// How long a server that ends waits: a short time for requests in flight and for what is to be saved, and for answers
/// that come only once as long as a provider may take.
///
/// Time in which this process did not run, as it was stopped or the machine slept, is not counted: what came meanwhile
/// has not been read.
struct DrainTime {
  /// How long requests in flight may take, and what is to be saved of the last answer that comes only once.
  static let patience = Duration.seconds(5)
  /// How long answers are awaited that come only once: longer than a refresh that is sent takes as a rule.
  static let longest = Duration.seconds(25)
  /// How often it is looked whether there are any left.
  static let interval = Duration.milliseconds(250)
  /// A look that comes so much later shows that the process did not run.
  private static let longestDelay = Duration.seconds(1)

  private var deadline: Duration
  private var end: Duration
  private var next: Duration

  /// The waiting that begins at a moment.
  init(from now: Duration) {
    (deadline, end, next) = (now + Self.patience, now + Self.longest, now + Self.interval)
  }

  /// Takes a look, which was to come after ``interval``.
  ///
  /// - Parameters:
  ///   - now: the present moment.
  ///   - isAwaiting: whether answers that come only once are awaited.
  /// - Returns: whether the server waits on.
  mutating func goesOn(at now: Duration, isAwaiting: Bool) -> Bool {
    let delay = now - next
    if delay > Self.longestDelay {
      deadline += delay
      end += delay
    }
    next = now + Self.interval
    guard isAwaiting else { return now < deadline }
    deadline = now + Self.patience
    return now < end
  }

  /// How long the server waits at most.
  func rest(at now: Duration, isAwaiting: Bool) -> Duration { max((isAwaiting ? end : deadline) - now, .zero) }
}
