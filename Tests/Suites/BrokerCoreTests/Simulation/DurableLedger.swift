import BrokerCore
import BrokerProtocol
import SecretMemory

/// What has ever become durable.
struct DurableLedger {
  /// What a record says.
  enum Fact: Hashable {
    case login(ProfileName)
    case token(ProfileName, String)
    case ended(ProfileName, SessionExpiredEvent.Reason)
    case signedOut(ProfileName)
  }

  /// How often each fact has become durable and was not told yet.
  private(set) var facts: [Fact: Int] = [:]
  /// The sequences of events that rest in the store.
  var sequences: Set<UInt64> = []
  /// The last sequence that is certainly never given again.
  var promised: UInt64 = 0
  /// The sequences of events that were to be kept with something that the store refused.
  var refused: Set<UInt64> = []
  /// The sequences of events that were to be kept, and could not be.
  var unkept: Set<UInt64> = []
  /// The sequences of events that rest in the store although the broker was told that they do not.
  var surprising: Set<UInt64> = []
  /// The sequences of events that became durable in the instant of a crash.
  var crashed: Set<UInt64> = []
  /// The tokens, of both kinds, whose record has rested in the store.
  var tokens: Set<String> = []
  /// The tokens whose record could not be saved at first.
  var unsaved: Set<String> = []
  /// Profiles whose newest record was reported as refused, and rests in the store all the same.
  var surprisingRecords: Set<ProfileName> = []
  /// The users whose record has rested in the store, by the names that their provider gave them.
  var users: [User] = []
  /// The newest record of each profile.
  var records: [ProfileName: SessionRecord] = [:]
  /// How often the wall clock was set, at least, before the newest living record of each profile was made.
  var jumpsBeforeRecord: [ProfileName: Int] = [:]
  /// The refresh tokens whose successor has rested in the store.
  var spent: Set<SimulatedServer.Token> = []
  /// The profiles whose intent is open.
  private(set) var intents: Set<ProfileName> = []
  /// Those of them whose intent was opened over an earlier one, which a life had found open.
  private(set) var replays: Set<ProfileName> = []
  /// Whether a session may have been parked: its intent goes with it, and is not followed here.
  var mayHaveParked = false

  /// Notes what a step makes of intents.
  mutating func noteIntent(_ step: StoreStep) {
    switch step {
    case .openIntent(let intent):
      let isKnown = !intents.insert(intent.profile).inserted || mayHaveParked
      if isKnown, intent.followsLostReply { replays.insert(intent.profile) }
    case .closeIntent(let profile): closeIntent(of: profile)
    case .record(let record): closeIntent(of: record.profile)
    default: break
    }
  }

  private mutating func closeIntent(of profile: ProfileName) {
    intents.remove(profile)
    replays.remove(profile)
  }

  /// Forgets sequences that are given again after a crash.
  mutating func forgetUnpromised() {
    let last = promised
    refused = refused.filter { $0 <= last }
    unkept = unkept.filter { $0 <= last }
  }

  /// Notes that a fact has become durable.
  mutating func add(_ fact: Fact) { facts[fact, default: 0] += 1 }

  /// Notes that a fact is told; false where it was not durable.
  mutating func tell(_ fact: Fact) -> Bool {
    guard let count = facts[fact], count > 0 else { return false }
    facts[fact] = count - 1
    return true
  }

  /// The refresh token of the record of a profile; nil where there is no living session.
  func refreshToken(of profile: ProfileName) -> SimulatedServer.Token? {
    guard case .living(let session) = records[profile]?.contents else { return nil }
    return (session.tokens.refreshToken?.value.revealedString()).flatMap { SimulatedServer.Token($0) }
  }

  /// The living session in the record of a profile.
  func living(_ profile: ProfileName) -> LivingSession? {
    guard case .living(let session) = records[profile]?.contents else { return nil }
    return session
  }
}
