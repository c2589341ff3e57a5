package import BrokerProtocol

/// A request that a client has queued, without its header and body, which rest in the store alone.
package struct QueuedRequest: Sendable, Equatable {
  /// The name of one, in the order in which the requests of a profile were queued.
  package struct ID: Hashable, Sendable {
    /// The profile.
    package let profile: ProfileName
    /// Counts the requests of the profile.
    package let number: UInt64

    /// The name of a request.
    package init(profile: ProfileName, number: UInt64) { (self.profile, self.number) = (profile, number) }
  }

  /// The stage of a request.
  package enum Stage: Sendable, Equatable {
    /// It waits for its turn.
    case waiting
    /// It may have been sent, and its answer is awaited.
    case sending
    /// The API has answered.
    case completed(status: Int)
    /// It has ended without an answer.
    case failed(RequestFailure)
  }

  /// Its name.
  package let id: ID
  /// Its name for clients.
  package let requestID: String
  /// The provider of its profile.
  package let binding: ProviderBinding
  /// The user of the session in which it was queued; nil where the profile has none.
  package let user: String?
  /// The limited socket by which it was queued; nil for the broker's own.
  package let socket: String?
  /// The value of its Idempotency-Key.
  package let key: String
  /// The digest of everything that is sent.
  package let digest: String
  /// The method.
  package let method: APIRequest.Method
  /// The address.
  package let url: String
  /// The scopes of the token; nil for the session's own.
  package let scopes: [String]?
  /// The audience of the token.
  package let audience: String?
  /// How long an answer is awaited.
  package let timeout: Duration
  /// How many bytes its contents have in the store.
  package var byteCount: Int
  /// When it was queued.
  package let queuedAt: Timestamp
  /// The stage.
  package var stage = Stage.waiting
  /// How often it was sent.
  package var attempts = 0
  /// How often the API has answered that it failed.
  package var serverErrors = 0
  /// When it was first sent; nil before.
  package var firstAttemptAt: Timestamp?
  /// Whether the API may have acted on it: some answer was lost, or says nothing.
  package var mayHaveActed = false
  /// Whether it is not to be sent any more.
  package var isCancelled = false
  /// When it has ended.
  package var endedAt: Timestamp?

  /// A request that was never sent.
  package init(
    id: ID, requestID: String, binding: ProviderBinding, user: String?, socket: String?, key: String, digest: String,
    method: APIRequest.Method, url: String, scopes: [String]?, audience: String?, timeout: Duration, byteCount: Int,
    queuedAt: Timestamp
  ) {
    (self.id, self.requestID, self.binding, self.user, self.socket) = (id, requestID, binding, user, socket)
    (self.key, self.digest, self.method, self.url) = (key, digest, method, url)
    (self.scopes, self.audience, self.timeout) = (scopes, audience, timeout)
    (self.byteCount, self.queuedAt) = (byteCount, queuedAt)
  }

  /// Whether nothing more is done for it.
  package var hasEnded: Bool {
    switch stage {
    case .waiting, .sending: false
    case .completed, .failed: true
    }
  }
}

/// The contents of a queued request in the store: what is sent, or what came.
package enum QueuedContents: Sendable, Equatable {
  /// The header and the body of the request.
  case request(HeaderFields, body: [UInt8]?)
  /// The answer.
  case answer(APIAnswer)
}
