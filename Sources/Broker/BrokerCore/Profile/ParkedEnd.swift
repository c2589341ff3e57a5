import BrokerProtocol

/// The end of a kept session on its way to the store.
struct ParkedEnd: Sendable {
  /// The request that waits for the end.
  enum Waiter: Sendable {
    /// A logout.
    case logout(UInt64)
    /// The end of all that is kept of an account.
    case account(UInt64)
  }

  /// Its name.
  let id: ParkedSession.ID
  /// When it was signed out.
  let since: Timestamp
  /// The provider that issued it, where it is known.
  let provider: (any AuthProvider)?
  /// The request that waits for it; nil for none.
  let waiter: Waiter?
  /// The revocations that are kept with it.
  var revocations: [PendingRevocation.ID] = []

  /// Whether a logout has asked for it.
  var isByHand: Bool { if case .logout? = waiter { true } else { false } }
}

/// An account whose sessions its provider has ended.
struct ParkedAccount: Sendable {
  /// The user; nil where the account is unknown: every session of the binding is meant.
  let user: String?
  /// The binding of its sessions.
  let binding: ProviderBinding

  /// Whether a parked session is meant; `records` has those that are stored under their profile's own name.
  func has(_ session: ParkedSession, _ records: [SessionRecord]) -> Bool {
    guard session.id.binding == binding else { return false }
    guard let user else { return true }
    let own = records.first { $0.profile == session.id.profile && $0.binding == binding }
    guard session.session == nil, case .living(let living)? = own?.contents else {
      return session.session?.user?.id == user
    }
    return living.user?.id == user
  }
}

/// The end of all that is kept of an account, on its way to the store.
struct ParkedAccountEnd: Sendable {
  /// The account.
  let account: ParkedAccount
  /// The work to do then; nil for none.
  let settlement: Settlement?
  /// The profile whose own change is to be durable too; nil for none.
  let slot: SlotID?
  /// Whether the store is being read.
  var isReading = true
  /// The sessions whose end is not durable yet.
  var unsaved: Set<ParkedSession.ID> = []
  /// Why something could not be made durable.
  var failure: StoreFailure?

  /// An end at its beginning.
  init(account: ParkedAccount, settlement: Settlement?, slot: SlotID?) {
    (self.account, self.settlement, self.slot) = (account, settlement, slot)
  }
}
