import BrokerProtocol

/// A login that is not answered yet, and the callers that wait for it.
struct LoginAttempt {
  /// What a login is made with; equal logins share one call of the provider.
  struct Question: Equatable {
    /// What the provider is given.
    let credentials: Credentials
    /// Whose session it must bring; nil for any.
    let expectedUser: ExpectedUser?
    /// Whether it may replace another user's living session.
    let mayReplace: Bool
  }

  /// What a login is begun with.
  struct Plan {
    /// How it is begun.
    var method = LoginMethod.password
    /// What makes another one equal; nil for what is not shared.
    var question: Question?
    /// Whose session it must bring; nil for any.
    var expectedUser: ExpectedUser?
    /// Whether it may replace another user's living session.
    var mayReplace = false
    /// Whose login it is, as the client has named the account; nil where it has not.
    var account: String?
    /// What the client has given to have it back; those who share the call have their own.
    var clientContext: String?
  }

  /// Names the attempt.
  let id: UInt64
  /// The stay of the profile that it was begun for.
  let slot: SlotID
  /// How many logouts the profile had seen: one more, and the attempt is void.
  let logouts: UInt64
  /// How often the vault had been locked.
  let locks: UInt64
  /// What it was begun with.
  let plan: Plan
  /// The connection that has begun it; nil for none.
  let client: ClientID?
  /// Who has begun or joined it.
  var beginners = LoginBeginners()
  /// Whether callers of other connections have joined it: then it is no connection's own.
  var isShared = false
  /// When the provider was asked.
  let sentAt: Moment
  /// Who waits for the answer.
  var callers: [CallerID] = []
  /// Whether a caller's connection was closed: such a caller has not changed its mind, and the login goes on.
  var hasAbsentCaller = false
  /// Whether all callers have cancelled their login: then what it brings is revoked.
  var isCancelled: Bool { callers.isEmpty && !hasAbsentCaller }
  /// Whether the provider has answered, and what it brought is being saved: it cannot be cancelled any more.
  var isAnswered = false

  /// The profile.
  var profile: ProfileName { slot.profile }

  /// The connection whose own login it is.
  var provingClient: ClientID? { isShared ? nil : client }

  /// Whether no logout came after it was begun, nor a lock of the vault after which it can be done again, and its
  /// profile is still the same.
  func isPresent(on slot: ProfileSlot) -> Bool {
    self.slot == slot.id && logouts == slot.logouts && (locks == slot.locks || plan.method == .refreshToken)
  }
}
