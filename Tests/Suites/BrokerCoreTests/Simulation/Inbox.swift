import BrokerCore
import BrokerProtocol
import SecretMemory
import Synchronization

/// What has happened in one life of the broker, in order, until the simulation looks at it.
final class Inbox: Sendable {
  /// One thing that has happened.
  enum Message: Sendable {
    /// Steps have become durable.
    case committed([StoreStep])
    /// The broker was told that steps are not durable, and they are or are not.
    case refused([StoreStep], isDurable: Bool)
    /// No sequence up to this one is ever given again.
    case promised(UInt64)
    /// An event has reached a subscription.
    case delivered(SubscriptionHub.Delivery)
    /// A request has its answer.
    case answered(Int, Answer)
    /// The broker says that something is wrong.
    case problem(BrokerNotice.Problem)
    /// A request of the administrator's is done.
    case reconfigured(StoreFailure?)

    /// Whether it is about what the store has, which comes before what follows from it.
    var isOfStore: Bool {
      switch self {
      case .committed, .refused, .promised: true
      case .delivered, .answered, .problem, .reconfigured: false
      }
    }
  }

  /// What a request was answered with.
  enum Answer: Sendable {
    case token(String)
    case login(LoginProgress)
    case subscribed(Subscribe.Result, missed: [BrokerEvent])
    case challenge(OTPChallenge)
    case logout(Logout.Result)
    case user(User)
    case queued(String)
    case request(QueuedRequestState)
    case other
    case error(BrokerError)

    /// What the broker has told a caller.
    init(_ answer: BrokerCore.Answer) {
      switch answer {
      case .rendered(let json, _): self = .token(json.revealedString() ?? "")
      case .failure(let error): self = .error(error)
      case .value(let login as LoginResult): self = .login(login.progress)
      case .value(let challenge as OTPChallenge): self = .challenge(challenge)
      case .value(let logout as Logout.Result): self = .logout(logout)
      case .value(let user as User): self = .user(user)
      case .value(let queued as QueueRequest.Result): self = .queued(queued.requestID)
      case .value(let cancelled as CancelRequest.Result): self = .request(cancelled.request)
      case .value: self = .other
      }
    }
  }

  private let messages = Mutex<[Message]>([])

  /// Adds what has happened.
  func add(_ message: Message) { messages.withLock { $0.append(message) } }

  /// Takes everything that has happened since the last time.
  func takeAll() -> [Message] {
    messages.withLock { messages in
      defer { messages.removeAll(keepingCapacity: true) }
      return messages
    }
  }
}
