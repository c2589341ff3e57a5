package import BrokerProtocol

/// The rules of the queue, and what goes into it and comes out of it.
extension RequestQueue {
  /// The rules of a profile's line.
  package struct Rules: Sendable, Equatable {
    /// The contract's rules.
    package static let standard = Rules()
    /// The most requests that wait.
    package var mostEntries = 1000
    /// How long an API knows a key, from the first attempt on.
    package var keyLifetime = Duration.seconds(82_800)
    /// Whether the requests of a user are kept when that user logs out.
    package var outliveLogout = true

    /// Rules of these members.
    package init(mostEntries: Int = 1000, keyLifetime: Duration = .seconds(82_800), outliveLogout: Bool = true) {
      (self.mostEntries, self.keyLifetime, self.outliveLogout) = (mostEntries, keyLifetime, outliveLogout)
    }
  }

  /// The end of an attempt.
  package enum Outcome: Sendable, Equatable {
    /// Certainly nothing was sent.
    case unsent(Obstacle)
    /// The API has answered.
    case answered(APIAnswer)
    /// The answer was lost.
    case lost
    /// No other attempt can end better.
    case failed(RequestFailure)
  }

  /// Why nothing was sent.
  package enum Obstacle: Sendable, Equatable {
    /// Something passes: the network, the provider, the disk.
    case passing(retryAfter: Duration?)
    /// The broker is being locked, or ends.
    case closing
    /// The owner has to do something.
    case paused(QueuePause)
  }

  /// An event that drives the queue.
  package enum Event: Sendable {
    /// The profiles that have requests sent, with their rules.
    case configured([ProfileName: Rules])
    /// The store is open, and holds these.
    case opened([QueuedRequest])
    /// The store is about to be closed: nothing is begun any more.
    case closed
    /// The store is closed: nothing may stay in memory.
    case dropped
    /// A request is durable.
    case added(QueuedRequest)
    /// An attempt has ended; `isMarked`: it is durable that it may have been sent.
    case attempted(QueuedRequest.ID, Outcome, isMarked: Bool, jitter: Double)
    /// A request is not wanted any more.
    case cancelled(QueuedRequest.ID)
    /// Requests are about to be forgotten in the store: nothing of them is written any more.
    case leaving([QueuedRequest.ID])
    /// Requests are gone from the store.
    case removed([QueuedRequest.ID])
    /// The session of a profile has begun or changed.
    case sessionChanged(ProfileName)
    /// Servers may be reached again.
    case networkReturned
    /// A time came that ``nextWake`` has named.
    case woken
  }

  /// An action for the runner to carry out.
  package enum Action: Sendable, Equatable {
    /// Get the token, make this durable, send, and say how that ended.
    case attempt(QueuedRequest)
    /// Make this durable, with the answer in place of the request where there is one, and publish the event then.
    case keep(QueuedRequest, APIAnswer?, EventPayload?)
    /// Forget these in the store.
    case forget([QueuedRequest.ID])
    /// Publish an event.
    case tell(ProfileName, EventPayload)
  }
}
