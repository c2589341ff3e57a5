import BrokerProtocol
import SecretMemory

/// The callers that wait for an answer.
///
/// Rooms and machines know a caller by its name; this is the only table of callers.
struct Callers {
  /// The object of a caller's wait: used to tell it that the caller has left.
  enum Wait: Equatable {
    /// For the work that its request began, which goes on without it.
    case request
    /// For a token of a profile.
    case token(ProfileName)
    /// For a provider's answer to a login.
    case login
    /// For the result of a code, or for another code, of the login with this handle.
    case code(login: String)
    /// For the user of the login with this handle.
    case userAction(login: String)
    /// For the end of the login with this handle.
    case cancellation(login: String)
    /// For the owner's consent to a token of a profile.
    case consent(ProfileName)
    /// For the examination of sessions.
    case sessionChecks(SessionChecks)
  }

  /// The broker's own use of a token, called instead of an answer to a client.
  typealias Continuation = @Sendable (isolated Broker, Result<Secret, BrokerError>) -> Void

  /// Goes on with a request that has waited for consent, as its principal is then.
  typealias Resumption = @Sendable (isolated Broker, Principal) throws(BrokerError) -> Void

  /// The session for which a request was consented to.
  struct Consented {
    /// The profile's stay in the configuration.
    let slot: SlotID
    /// The number of its session; by the time of the answer there may be another one.
    let session: UInt64
    /// Serves the request once more.
    let again: Resumption
  }

  /// The owner's consent to one request.
  struct Consent {
    /// The thing that is consented to.
    let demand: Consents.Demand
    /// The consent that is remembered; nil where none is.
    let grant: UInt64?
  }

  /// One caller.
  struct Entry {
    /// The principal that sent the request.
    var principal: Principal
    /// When its method needs an open vault.
    var need: VaultNeed
    /// The object of its wait.
    var wait = Wait.request
    /// Ends the wait after its time limit; nil for a wait without one.
    var deadline: TimerCancellation?
    /// The broker's own use of the token, called instead of an answer; nil for a client's request.
    var continuation: Continuation?
    /// Goes on with the request, where it waits for consent.
    var resumption: Resumption?
    /// The consent that it has, until it is served by it.
    var consent: Consent?
    /// The session that a consent which it was served by is for.
    var consented: Consented?
    /// The context that the client gave with a login, returned in its answer.
    var clientContext: String?
    /// The profile whose backup codes are counted in the answer; nil for every other answer.
    var countsBackupCodesOf: ProfileName?
  }

  private var entries: [CallerID: Entry] = [:]
  private var ownCount: UInt64 = 0

  /// The entry of a caller that still waits.
  subscript(id: CallerID) -> Entry? { entries[id] }

  /// Takes in a request.
  mutating func insert(_ id: CallerID, as principal: Principal, _ need: VaultNeed) {
    entries[id] = Entry(principal: principal, need: need)
  }

  /// Takes in that the broker itself waits for a token, for itself or for a principal.
  mutating func insertOwn(_ continuation: @escaping Continuation, as principal: Principal = .broker) -> CallerID {
    let id = CallerID(CallerID.firstOwn + ownCount)
    ownCount += 1
    entries[id] = Entry(principal: principal, need: .throughout, continuation: continuation)
    return id
  }

  /// Changes the entry of a caller that still waits.
  mutating func update(_ id: CallerID, _ change: (inout Entry) -> Void) {
    if var entry = entries[id] {
      change(&entry)
      entries[id] = entry
    }
  }

  /// Takes a caller out: it is answered, or has left.
  mutating func remove(_ id: CallerID) -> Entry? {
    let entry = entries.removeValue(forKey: id)
    entry?.deadline?.cancel()
    return entry
  }

  /// The callers that wait for one thing, in the order in which they came.
  func waiting(for wait: Wait) -> [CallerID] { entries.filter { $0.value.wait == wait }.keys.sorted() }

  /// The callers that wait for a token, in the order in which they came.
  var waitingForTokens: [(caller: CallerID, profile: ProfileName)] {
    entries.compactMap { id, entry in
      if case .token(let profile) = entry.wait { (id, profile) } else { nil }
    }.sorted { $0.caller < $1.caller }
  }

  /// The callers that wait for consent, in the order in which they came.
  var waitingForConsent: [(caller: CallerID, profile: ProfileName)] {
    entries.compactMap { id, entry in
      if case .consent(let profile) = entry.wait { (id, profile) } else { nil }
    }.sorted { $0.caller < $1.caller }
  }

  /// How many there are.
  var count: Int { entries.count }
}
