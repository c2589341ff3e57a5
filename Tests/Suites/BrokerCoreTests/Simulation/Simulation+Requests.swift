import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport

extension Simulation {
  /// A request that was made.
  struct Request {
    /// What it is.
    let name: String
    /// Whose token or session it is about; nil for requests of no profile.
    let profile: ProfileName?
    /// When it must have been answered, whatever the world does; nil where the world decides.
    var deadline: Duration?
    /// How long the token must still live.
    var minValidity: Duration?
    /// The same, where the request itself says so.
    var said: Duration?
    /// Whether only a new token will do.
    var isForced = false
    /// What the token is to be for; nil for the session's own.
    var target: TokenTarget?
    /// Whether the broker may not know what it is for.
    var isTargetForgotten = false
    /// The newest token that callers had then.
    var before: SimulatedServer.Token?
    /// The token that was reported as refused.
    var rejected: SimulatedServer.Token?
    /// Whether its caller waits for a token, and may leave.
    var isForToken = false
    /// Whether it was answered.
    var isAnswered = false
    /// Whether its caller has left.
    var isAbandoned = false
    /// The number of the first session that nobody can have had then.
    var firstLater = 0
    /// Which subscriber it is for.
    var subscriber: Int?
  }

  /// Notes a request; its number.
  func open(_ request: Request) -> Int {
    requestCount += 1
    if request.isEager, let profile = request.profile { eagerAt[profile] = life.clock.uptime }
    counts.requests += 1
    requests[requestCount] = request
    return requestCount
  }

  /// Has the broker take up a request.
  func ask<Value>(_ number: Int, _ need: VaultNeed = .throughout, _ method: @escaping Broker.Method<Value>) {
    life.broker.assumeIsolated { $0.receive(Caller(CallerID(UInt64(number)), as: .broker), need, method) }
  }

  /// Asks for a token.
  func askForToken(_ params: GetAccessToken.Params) throws(Violation) {
    guard let profile = params.profile else { return }
    let target = otherTarget(TokenTarget(scopes: params.scopes ?? [], audience: params.audience))
    let number = open(
      Request(
        name: "getAccessToken", profile: profile, deadline: life.clock.uptime + params.timeout,
        minValidity: params.minValidity ?? skew(profile), said: params.minValidity, isForced: params.forceRefresh,
        target: target,
        before: shown[Purpose(profile: profile, target: target)]))
    trace.note("request \(number): getAccessToken \(profile)\(describe(params))")
    requests[number]?.isForToken = true
    ask(number) { broker, caller throws(BrokerError) in try broker.accessToken(params, caller) }
    try turn()
  }

  private func describe(_ params: GetAccessToken.Params) -> String {
    (params.scopes.map { " of \($0)" } ?? "") + (params.audience.map { " for \($0)" } ?? "")
      + (params.forceRefresh ? " forced" : "") + (params.waitForLogin ? " waits for a login" : "")
      + (params.minValidity.map { " for \($0)" } ?? "") + " at most \(params.timeout)"
  }

  /// What a caller gets who does not say; unknown while another configuration is being taken up.
  func skew(_ profile: ProfileName) -> Duration? {
    wishes.reconfigurations > 0 ? nil : profiles.first { $0.name == profile }?.rules.expiry.skew
  }

  /// Asks for a token where requests are read, without entering the broker.
  func askCache(_ profile: ProfileName, minValidity: Duration?) throws(Violation) {
    let now = (wall: life.clock.now.milliseconds, uptime: life.clock.uptime.milliseconds)
    let bytes = Array(profile.description.utf8)
    let json = life.broker.answers.answer(
      profile: bytes.span, for: .all, minValidity: minValidity?.milliseconds, wall: now.wall, uptime: now.uptime)
    guard let text = json?.revealedString() else {
      return try askForToken(GetAccessToken.Params(profile: profile, minValidity: minValidity))
    }
    let number = open(
      Request(
        name: "cache", profile: profile, minValidity: minValidity ?? skew(profile), said: minValidity,
        before: shown[Purpose(profile: profile)]))
    trace.note("request \(number): cache \(profile)")
    try noteAnswered(number, .token(text))
  }

  /// Reports the newest token as refused.
  func reportRejected(_ profile: ProfileName, status: Int) throws(Violation) {
    guard let token = shown[Purpose(profile: profile)] else { return }
    let number = open(
      Request(
        name: "reportRejected", profile: profile, deadline: life.clock.uptime + .seconds(25), minValidity: .zero,
        rejected: status == 401 ? token : nil))
    let text = "A\(token.family).\(token.number)"
    trace.note("request \(number): reportRejected \(profile) \(text) \(status)")
    if status == 401 { refusedIn[text] = life.number }
    let params = ReportRejected.Params(profile: profile, accessToken: ScriptedProvider.secret(text), status: status)
    requests[number]?.isForToken = true
    ask(number) { broker, caller throws(BrokerError) in try broker.reportRejected(params, caller) }
    try turn()
  }

  /// Takes back one of the requests that wait.
  func abandon() throws(Violation) {
    let waiting = requests.filter { $0.value.isForToken && !$0.value.isAnswered && !$0.value.isAbandoned }
    guard let number = waiting.keys.sorted().randomElement(using: &random) else { return }
    trace.note("request \(number) is taken back")
    requests[number]?.isAbandoned = true
    life.broker.assumeIsolated { $0.detach(CallerID(UInt64(number))) }
    try turn()
  }

  /// Logs in, or tries to.
  func logIn(_ profile: ProfileName, password: String) throws(Violation) {
    let number = open(Request(name: "login", profile: profile))
    trace.note("request \(number): login \(profile) \(password)")
    wishes.signedOut.remove(profile)
    let params = Login.Params(
      profile: profile, email: "a@b.example", password: ScriptedProvider.secret(password))
    ask(number) { broker, caller throws(BrokerError) in try broker.login(params, caller) }
    try turn()
  }

  /// Answers the newest challenge of a profile, or something like it.
  func verify(_ profile: ProfileName, code: String) throws(Violation) {
    let known = disk.pendingLogins.first { $0.login.profile == profile }?.login.id
    let flow = known ?? "handle-0"
    let number = open(Request(name: "verifyOtp", profile: profile))
    trace.note("request \(number): verifyOtp \(profile) \(flow) \(code)")
    wishes.signedOut.remove(profile)
    let params = VerifyOTP.Params(otpFlowID: flow, code: ScriptedProvider.secret(code))
    ask(number) { broker, caller throws(BrokerError) in try broker.verifyOTP(params, caller) }
    try turn()
  }

  /// Asks for another code.
  func resend(_ profile: ProfileName) throws(Violation) {
    let known = disk.pendingLogins.first { $0.login.profile == profile }?.login.id
    let number = open(Request(name: "resendOtp", profile: profile))
    trace.note("request \(number): resendOtp \(profile)")
    let params = ResendOTP.Params(otpFlowID: known ?? "handle-0")
    ask(number) { broker, caller throws(BrokerError) in try broker.resendOTP(params, caller) }
    try turn()
  }

  /// Logs out one profile, or all.
  func logOut(_ profile: ProfileName, all: Bool) throws(Violation) {
    let number = open(Request(name: "logout", profile: all ? nil : profile, firstLater: server.families.count))
    trace.note("request \(number): logout \(all ? "of all" : profile.description)")
    let sessions = life.broker.assumeIsolated { $0.sessions(for: .broker) }
    if all, sessions.allSatisfy({ $0.state != .locked }) {
      // Those that have left the configuration may end, too.
      for name in durable.records.keys where !sessions.contains(where: { $0.profile == name }) {
        wishes.logouts[name] = server.families.count
        revocable[name] = server.families.count
      }
    }
    for session in sessions where session.state != .locked {
      guard all || session.profile == profile else { continue }
      wishes.signedOut.insert(session.profile)
      wishes.logouts[session.profile] = server.families.count
      revocable[session.profile] = server.families.count
    }
    let params = Logout.Params(profile: profile, all: all)
    ask(number, .atFirst) { broker, caller throws(BrokerError) in try broker.logout(params, caller) }
    try turn()
  }

  /// Asks whose session it is.
  func askForUser(_ profile: ProfileName) throws(Violation) {
    let number = open(Request(name: "getCurrentUser", profile: profile))
    trace.note("request \(number): getCurrentUser \(profile)")
    let params = GetCurrentUser.Params(profile: profile, maxAge: .seconds(Int.random(in: 0...100, using: &random)))
    ask(number) { broker, caller throws(BrokerError) in try broker.currentUser(params, caller) }
    try turn()
  }

  /// Locks the vault.
  func lock() throws(Violation) {
    let number = open(Request(name: "lock", profile: nil))
    trace.note("request \(number): lock")
    wishes.isLocked = true
    learnt = Learnt()
    // What each token was for is forgotten with the tokens.
    givenIn = [:]
    ask(number, .never) { broker, caller in broker.lock(caller) }
    try turn()
  }

  /// Opens the vault.
  func unlock() throws(Violation) {
    let number = open(Request(name: "unlock", profile: nil))
    trace.note("request \(number): unlock")
    wishes.isLocked = false
    ask(number, .never) { broker, caller in broker.unlock(Unlock.Params(), caller) }
    try turn()
  }

  /// Begins a subscription; `since` is the last sequence that its owner has seen.
  func subscribe(_ index: Int, since: UInt64?) throws(Violation) {
    let subscriber = subscribers[index]
    let number = open(Request(name: "subscribe", profile: nil, subscriber: index))
    trace.note("request \(number): subscriber \(index) since \(since.map(String.init) ?? "now")")
    let params = Subscribe.Params(profiles: subscriber.profiles, since: since.map { Int($0) })
    subscribers[index].asked = (number, since)
    let caller = Caller<Subscribe.Result>(CallerID(UInt64(number)), as: .broker)
    life.broker.assumeIsolated { $0.subscribe(params, client: subscriber.client, caller) }
    try turn()
  }
}
