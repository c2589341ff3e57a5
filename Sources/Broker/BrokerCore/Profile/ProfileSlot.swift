import BrokerProtocol
import SecretMemory

/// One stay of a profile in the configuration: results for an earlier stay are ignored.
struct SlotID: Hashable, Sendable {
  /// The profile.
  let profile: ProfileName
  /// Names the stay.
  let number: UInt64
}

/// One profile as the broker holds it.
///
/// Confined to the broker's executor.
final class ProfileSlot {
  /// Names the profile, and its stay in the configuration.
  let id: SlotID
  /// The position in the configuration; meaningless once the profile is not configured any more.
  var position = 0
  /// The provider.
  var provider: any AuthProvider
  /// Whether clients may have the session's ID token.
  var allowsIDToken: Bool
  /// The requests that its clients may have sent; nil for none.
  var requests: RequestSettings?
  /// The store that its session is shared in with other brokers; nil for the broker's own.
  var records: (any RecordStore)?
  /// Whether its record is known: that of a shared store has to be read first, and again after each lock of the vault.
  var isRead: Bool
  /// The version of its record in a shared store, as it was taken up; nil where that is to be read whatever version it has.
  var takenUp: Int64?
  /// Whether a client was told of a session before it was known whether there is one.
  var isShownUnread = false
  /// The requests that wait for the record.
  var awaitingRecord: [CallerID] = []
  /// The uptime by which the first byte of the refresh at hand must leave, so that the lease of its intent outlasts it; nil
  /// where no other broker has the session.
  var latestSending: Duration?
  /// Whether the shared store was found to have gone back to an earlier state.
  var isRolledBack = false
  /// Decides what happens to its session.
  var machine: SessionMachine
  /// The answers with its tokens that are rendered already.
  var rendered = RenderedAnswers()
  /// The memory reserved for the reply to a refresh that is about to be sent.
  var room: SecretReservation?
  /// The last flight that was sent for its session, and the stay of the profile on which it was.
  var sent: (flight: UInt64, on: SlotID)?
  /// The names of the tokens of other profiles that the session's was last requested with; nil where that is not known.
  var subjects: [String]?
  /// The machine's next wake-up.
  var timer: TimerCancellation?
  /// The provider's description of the account.
  var account = AccountCache()
  /// Grows with every logout: a login that was begun before is not taken in.
  var logouts: UInt64 = 0
  /// Grows whenever the vault is locked: a login that was begun before is ignored, if it can be done again.
  var locks: UInt64 = 0
  /// Grows with every login and every logout: an answer for an earlier session does not concern the present one.
  var sessions: UInt64 = 0
  /// The connection whose own login brought the session; nil where no single connection's did.
  var provingClient: ClientID?
  /// The demands of a server on the next login; nil where there are none, and after a login.
  var stepUp: StepUp?
  /// The shared knowledge about its provider, common to all profiles that have it.
  var view = ProviderView()
  /// When each event was last published that may be published once a minute.
  var lastRareEvent: [EventName: Duration] = [:]

  /// A profile without a restored session; `number` is no other stay's.
  init(_ number: UInt64, _ settings: ProfileSettings, _ machine: SessionMachine) {
    id = SlotID(profile: settings.name, number: number)
    provider = settings.provider
    allowsIDToken = settings.allowsIDToken
    requests = settings.requests
    records = settings.records
    isRead = settings.records == nil
    self.machine = machine
  }

  /// The profile.
  var name: ProfileName { id.profile }

  /// The user of the session, as the provider last described them; durable unless the store is full.
  var user: User? { machine.living?.user }
}

/// A provider's description of the account of a session.
struct AccountCache {
  /// When the provider last described the session's user; nil where it has not since the login.
  var describedAt: Duration?
  /// How many backup codes were left after the last login by one, where the provider said so.
  var backupCodesRemaining: Int?
  /// The continuations that wait for the last description to be durable, or refused by the store.
  var waiting: [@Sendable (isolated Broker, _ isDurable: Bool) -> Void] = []

  /// Whether the user was described at most so long ago.
  func isFresh(within age: Duration, at uptime: Duration) -> Bool {
    describedAt.map { uptime - $0 <= age } ?? false
  }
}
