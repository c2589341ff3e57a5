import BrokerProtocol

/// Tokens on their way to the store.
struct TokensBeingSaved: Sendable {
  /// The session with them.
  let session: LivingSession
  /// The generation of the record.
  let generation: UInt64
  /// When they came: when they were asked for.
  let since: Moment
  /// The token that came for something else than the session itself, whose own token is the same as before then.
  var other: OtherToken?
  /// Why there is no other access token beside the refresh token that is saved; nil where there is one.
  var rejection: ProviderRejection?
  /// What is told once they are durable.
  var events: [EventPayload] = []
  /// Whether they came for a refresh token that a client has given, which may be one of the present session's.
  var isTakeover = false

  /// Tokens that are about to be saved; from here on they rest.
  init(
    session: LivingSession, generation: UInt64, since: Moment, other: OtherToken? = nil, events: [EventPayload] = [],
    isTakeover: Bool = false
  ) {
    self.session = session.resting()
    self.generation = generation
    self.since = since
    self.other = other
    self.events = events
    self.isTakeover = isTakeover
  }
}
