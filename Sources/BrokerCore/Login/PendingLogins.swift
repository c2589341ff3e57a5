package import BrokerProtocol

/// The logins that wait for a code or for their user: one a profile, each under a handle that cannot be guessed.
///
/// Any client allowed on the profile may go on with it; a newer login replaces an older one.
package struct PendingLogins: Sendable {
  private var byID: [String: LoginFlow] = [:]
  private var idOfProfile: [ProfileName: String] = [:]
  /// The login of each profile that its user was last waited for, for those who ask how it ended.
  private var endings: [ProfileName: Ending] = [:]

  /// How a login ended.
  package struct Ending: Sendable, Equatable {
    /// What the login waited for; of the provider's own handle nothing is kept.
    package var step: PendingLoginStep
    /// Why there is no session; nil where there is one.
    package var failure: LoginEnd?
  }

  /// No login waits.
  package init() {}

  /// Whether no login waits.
  package var isEmpty: Bool { byID.isEmpty }

  /// What the login of a profile waits for, unless it has ended.
  package func step(of profile: ProfileName, at now: Timestamp) -> PendingLoginStep? {
    guard let id = idOfProfile[profile], let flow = find(id, at: now) else { return nil }
    return flow.stage == .accepting ? nil : flow.login.step
  }

  /// Adds a login; the broker has ended an older one of the profile before.
  package mutating func insert(_ login: PendingLogin) {
    remove(profile: login.profile)
    byID[login.id] = LoginFlow(login)
    idOfProfile[login.profile] = login.id
  }

  /// The login behind a handle, unless it has ended; one whose answer is awaited has its time still.
  package func find(_ id: String, at now: Timestamp) -> LoginFlow? {
    guard let flow = byID[id] else { return nil }
    switch flow.stage {
    case .checkingCode, .asking, .accepting: return flow
    case .awaitingCode, .resting, .listening, .over: return flow.login.expiresAt > now ? flow : nil
    }
  }

  /// The login behind a handle, ended or not.
  package subscript(id: String) -> LoginFlow? { byID[id] }

  /// The handle of a profile's login.
  package func id(of profile: ProfileName) -> String? { idOfProfile[profile] }

  /// The handles of all logins.
  package var ids: [String] { byID.keys.sorted() }

  /// Lets a login decide; nil where there is none of this handle.
  package mutating func handle(_ event: LoginFlow.Event, _ id: String, at now: Moment) -> [LoginFlow.Action]? {
    byID[id]?.handle(event, at: now)
  }

  /// Forgets the login of a profile; false where none waits.
  @discardableResult
  package mutating func remove(profile: ProfileName) -> Bool {
    guard let id = idOfProfile.removeValue(forKey: profile) else { return false }
    byID[id] = nil
    return true
  }

  /// Forgets a login, and remembers how it ended as long as it would have lived, for those who ask late.
  package mutating func finish(_ id: String, _ failure: LoginEnd?) {
    guard let flow = byID.removeValue(forKey: id) else { return }
    let login = flow.login
    idOfProfile[login.profile] = nil
    if login.step.action != nil { endings[login.profile] = Ending(step: login.step, failure: failure) }
  }

  /// How the login behind a handle ended, if that is not too long ago.
  package func ending(of id: String, at now: Timestamp) -> Ending? {
    guard let ending = endings.values.first(where: { $0.step.id == id }) else { return nil }
    return ending.step.expiresAt + Self.memory > now ? ending : nil
  }

  /// How long after its time the end of a login is remembered: its callers ask within a minute.
  private static let memory = Duration.seconds(60)

  /// When the next login wants to be woken; nil where none does.
  package func nextWake(at now: Moment) -> Duration? { byID.values.compactMap { $0.nextWake(at: now) }.min() }
}
