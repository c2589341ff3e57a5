import BrokerProtocol

/// Tokens on their way to the store.
struct TokensBeingSaved: Sendable {
  /// The session with them.
  let session: LivingSession
  /// The generation of the record.
  let generation: UInt64
  /// When they came: when they were asked for.
  let since: Moment
  /// The token that came for another target; the session's own token is the same as before then.
  var other: OtherToken?
  /// Why there is no other access token beside the refresh token that is saved; nil where there is one.
  var rejection: ProviderRejection?
  /// The events to publish once they are durable.
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

/// Logins whose sessions are on their way to the store.
struct LoginsBeingSaved: Sendable {
  /// The last one; nil where none is being saved.
  @Boxed private(set) var newest: TokensBeingSaved? = nil
  /// The logins before it, in order: one that is durable has been published.
  private(set) var earlier: [TokensBeingSaved] = []
  /// The generation of a login that could not be saved, as long as its record may rest in the store all the same.
  private(set) var refused: UInt64?

  /// The tokens of all of them.
  var tokens: [TokenSet] { (earlier + [newest].compactMap(\.self)).map(\.session.tokens) }

  /// Whether the record of one has this generation.
  func contains(_ generation: UInt64) -> Bool {
    newest?.generation == generation || earlier.contains { $0.generation == generation }
  }

  /// Begins to save a login.
  mutating func begin(_ login: TokensBeingSaved) {
    if let newest { earlier.append(newest) }
    newest = login
  }

  /// Takes out the login whose record has this generation; nil where none has.
  mutating func take(_ generation: UInt64) -> (login: TokensBeingSaved, isNewest: Bool)? {
    if let index = earlier.firstIndex(where: { $0.generation == generation }) {
      return (earlier.remove(at: index), false)
    }
    guard let login = newest, login.generation == generation else { return nil }
    newest = nil
    return (login, true)
  }

  /// Notes that the login with this generation could not be saved.
  mutating func noteRefused(_ generation: UInt64) { refused = generation }

  /// Notes that a record is durable: a refused one before it is no longer in the store.
  mutating func noteSaved(_ generation: UInt64) {
    if let refused, refused < generation { self.refused = nil }
  }

  /// Stops waiting for all of them; whether the store has a refused one stays unknown.
  mutating func drop() {
    newest = nil
    earlier = []
  }
}
