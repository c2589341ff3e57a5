import AuthBrokerClient
import BrokerProtocol

/// The order in which `status --watch` asks a broker: to be told of events, then for its status and the pending logins,
/// again after events, and now and then for what no event tells, such as the number of clients.
struct StatusQuestions {
  /// The next thing to ask for.
  enum Question: Equatable {
    case subscription, status, logins
  }

  /// Something that has happened.
  enum Event {
    /// There is a connection on which nothing was asked yet.
    case connected
    /// The connection has gone.
    case lost
    /// The question was answered, or refused.
    case answered
    /// An event has come.
    case told
  }

  /// A burst of events is followed by one question: none comes sooner after the one before.
  static let shortestPause = Duration.seconds(1)
  /// The number of clients, of which no event tells, is asked for so often.
  static let longestPause = Duration.seconds(10)

  /// The question that waits for its answer.
  private(set) var pending: Question?
  private var next: Question?
  private var isSubscribed = false
  private var isConnected = false
  /// When the status is asked for next.
  private var due = Duration.zero
  private var askedAt: Duration?

  /// Takes in what has happened.
  mutating func handle(_ event: Event, at now: Duration) {
    switch event {
    case .connected:
      self = StatusQuestions()
      (isConnected, next) = (true, .subscription)
    case .lost: self = StatusQuestions()
    case .told: due = min(due, max(now, (askedAt ?? .zero) + Self.shortestPause))
    case .answered:
      let answered = pending
      pending = nil
      switch answered {
      case .subscription: (isSubscribed, due) = (true, now)
      case .status: next = .logins
      case .logins, nil: break
      }
    }
  }

  /// The question to ask now, which waits for its answer from then on; nil where there is none.
  mutating func take(at now: Duration) -> Question? {
    guard isConnected, pending == nil else { return nil }
    if next == nil, isSubscribed, due <= now {
      next = .status
      (askedAt, due) = (now, now + Self.longestPause)
    }
    pending = next
    next = nil
    return pending
  }

  /// When the next question is due, where none waits for its answer.
  var wake: Duration? { isConnected && pending == nil && isSubscribed ? due : nil }
}
