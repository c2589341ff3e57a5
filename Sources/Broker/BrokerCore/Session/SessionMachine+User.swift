import BrokerProtocol

/// The provider's description of a session's user, on its way to the store.
struct UserDescription: Sendable {
  /// The user, as described last.
  let user: User
  /// The user in the newest record on its way, and its generation; nil where none has one.
  ///
  /// A description that says something else follows it.
  var written: (user: User, generation: UInt64)?
}

/// Makes the provider's description of a session's user durable: in a record of its own, or in the next one of tokens.
extension SessionMachine {
  /// Whether something that the provider has said of the user is neither durable nor refused by the store.
  package var isDescribing: Bool { life?.$described.isThere ?? false }

  /// The user as the provider has described them last, durably or not.
  var newestUser: User? { life?.described?.user ?? living?.user }

  /// Takes in who the user is; clients see it once it is durable.
  mutating func describe(_ user: User) -> [Action] {
    guard life != nil, newestUser != user else { return [] }
    guard !isShared else {
      // A record without a lease could overtake that of another broker's refresh: the next one of this broker says it.
      life?.session.user = user
      return []
    }
    let written = life?.described?.written
    life?.described = UserDescription(user: user, written: written)
    return isStoreDegraded ? [.saveAgain] : []
  }

  /// Writes down who the user is as soon as no other record is on its way; no refresh begins before that is durable.
  ///
  /// A record closes the intent of a refresh: one whose outcome is not known stays open, see ``intent(beside:)``. While a
  /// refresh is under way its own record will say it.
  mutating func amend() -> [Action] {
    guard let life, life.saving == nil, life.notedGeneration == nil, life.unsavedEvents == nil, !refresh.isUnderWay,
      !isSigningIn
    else { return [] }
    return amendUnsaved()
  }

  /// Does the same where the newest record is one that the store has refused: this one takes its place.
  mutating func amendUnsaved() -> [Action] {
    guard let life, let described = life.described, described.written?.user != described.user else { return [] }
    var (session, events) = (life.session, life.unsavedEvents ?? [])
    beginRecord(of: &session, &events)
    self.life?.unsavedEvents = events
    return [.save(record(.living(session)), announcing: events)]
  }

  /// Begins the next record of the living session, which says who the user is as well.
  mutating func beginRecord(of session: inout LivingSession, _ events: inout [EventPayload]) {
    generation += 1
    let generation = generation
    guard let user = life?.described?.user else { return }
    // Who it is that is said for the first time is no change.
    if session.user != nil { events.append(.userUpdated(UserUpdatedEvent(userID: user.id))) }
    session.user = user
    life?.described?.written = (user, generation)
  }

  /// Takes in that the record with what was said of the user is durable, or could not be made so: it is the newest all the
  /// same, and tried again.
  mutating func adoptDescription(_ generation: UInt64, isDurable: Bool) {
    guard let described = life?.described, let (user, written) = described.written, written <= generation else {
      return
    }
    life?.session.user = user
    life?.described = described.user == user ? nil : UserDescription(user: described.user)
    // Also where a login is on its way behind it.
    if isDurable { life?.unsavedEvents = nil }
  }

  /// The intent that stays open beside a record with the refresh token of the one before it; nil where none is open.
  package func intent(beside record: SessionRecord) -> RefreshIntent? {
    guard case .living = record.contents, record.generation == generation, life?.saving == nil,
      !isLogin(record.generation), refresh.lost != nil || refresh.hasIntent
    else { return nil }
    let startedAt = refresh.lost.flatMap { $0.isReplayed ? nil : $0.sentAt.wall } ?? LostReply.replayMark
    return RefreshIntent(profile: profile, generation: record.generation, startedAt: startedAt)
  }
}
