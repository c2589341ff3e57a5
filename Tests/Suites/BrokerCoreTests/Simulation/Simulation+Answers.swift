import BrokerCore
import BrokerProtocol

/// What must hold for every answer.
extension Simulation {
  /// Takes in the answer to a request.
  func noteAnswered(_ number: Int, _ answer: Inbox.Answer) throws(Violation) {
    guard let request = requests[number] else { throw Violation(.answeredOnce, "request \(number) is unknown") }
    trace.note("request \(number) \(request.name): \(describe(answer))")
    guard !request.isAnswered else { throw Violation(.answeredOnce, "request \(number) is answered twice") }
    guard !request.isAbandoned else { throw Violation(.answeredOnce, "request \(number) was taken back") }
    requests[number]?.isAnswered = true
    switch answer {
    case .token(let json): try check(json, request)
    case .error(let error): try check(error, request)
    case .subscribed(let result, let missed): try noteSubscribed(request, number, result, missed)
    case .logout: try checkLogout(request)
    case .user(let user): try checkUser(user, request)
    case .login, .challenge, .queued, .request, .other: break
    }
  }

  private func describe(_ answer: Inbox.Answer) -> String {
    switch answer {
    case .token(let json): String(json.prefix(80))
    case .error(let error): "\(error.kind)"
    case .login(.authenticated(let session)): "authenticated \(session.profile)"
    case .subscribed(let result, let missed):
      "at \(result.sequence), \(missed.count) missed\(result.resync == true ? ", resync" : "")"
    default: String("\(answer)".prefix(60))
    }
  }

  private func check(_ json: String, _ request: Request) throws(Violation) {
    counts.tokens += 1
    let prefix = #"{"accessToken":""#.utf8.count
    let text = String(decoding: json.utf8.dropFirst(prefix).prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
    guard let token = SimulatedServer.Token(text), let access = server.access[text], let profile = request.profile
    else { throw Violation(.tokenGood, "\(text) is no token of the provider's") }
    guard !wishes.isLocked else { throw Violation(.lockHolds, "\(text) is given") }
    guard server.families[token.family].profile == profile else {
      throw Violation(.tokenGood, "\(text) is not one of \(profile)'s")
    }
    guard !wishes.signedOut.contains(profile) else { throw Violation(.logoutKept, "\(text) is given") }
    let saved = access.target == nil ? text : access.refreshToken
    guard durable.tokens.contains(saved) || durable.unsaved.contains(saved) else {
      throw Violation(.durableFirst, "\(text) is given before it is saved")
    }
    try checkLife(access, text, Marks(json), request)
    try checkTarget(access, token, text, request)
    let purpose = Purpose(profile: profile, target: access.target)
    if let newest = shown[purpose], newest.family == token.family, token.number < newest.number {
      throw Violation(.tokenGood, "\(text) is older than one that was given before")
    }
    shown[purpose] = token
    givenIn[text] = givenIn[text] ?? life.number
    // Without a timeout nobody writes down when a session is used.
    lastUse[profile] = idleTimeout(of: profile) == nil ? nil : sending
    guard let rejected = request.rejected, rejected == token else { return }
    throw Violation(.tokenGood, "\(text) was reported as refused")
  }

  /// The errors that a caller who wants a token has to reckon with.
  static let tokenErrors: Set<ErrorKind> = [
    .loginRequired, .sessionExpired, .challengePending, .refreshOutcomeUnknown, .reauthRequired, .networkUnavailable,
    .timeout, .providerUnavailable, .rateLimited, .providerRejected, .invalidResponse, .tlsFailed, .vaultLocked,
    .storeFailed, .unknownProfile, .deadlineExceeded, .insufficientScope, .overloaded,
  ]
  /// The further errors of requests that ask the provider about a person.
  static let otherErrors: Set<ErrorKind> = [
    .cancelled, .invalidCredentials, .otpInvalid, .tooManyAttempts, .flowNotFound, .resendTooSoon, .overloaded,
    .otpExpired,
  ]

  private func check(_ error: BrokerError, _ request: Request) throws(Violation) {
    let isForToken = request.name == "getAccessToken" || request.name == "reportRejected"
    if isStopping, error.kind == .shuttingDown { return }
    guard Self.tokenErrors.contains(error.kind) || !isForToken && Self.otherErrors.contains(error.kind) else {
      throw Violation(.errorFits, "\(request.name): \(error.kind)")
    }
    if error.kind == .insufficientScope { try checkRefusal(request) }
    try checkPromptness(error, request)
    guard isForToken, let profile = request.profile else { return }
    switch error.kind {
    case .loginRequired, .sessionExpired, .challengePending:
      guard try isLoginNeeded(profile) else {
        throw Violation(.sessionKept, "\(request.name) of \(profile): \(error.kind), but the provider's session lives")
      }
    case .deadlineExceeded:
      guard let deadline = request.deadline, deadline <= life.clock.uptime else {
        throw Violation(.answeredOnce, "\(request.name) of \(profile): too early for \(error.kind)")
      }
    default: break
    }
  }

  /// Whether nobody could get a token of a profile without a login, as far as the store and the provider know.
  func isLoginNeeded(_ profile: ProfileName) throws(Violation) -> Bool {
    if session(profile)?.loginRequiredReason == SessionExpiredEvent.Reason.idleTimeout.rawValue {
      try checkIdleEnd(profile)
      return true
    }
    // What is just being saved will tell.
    if isBeingSaved(profile) { return true }
    guard wishes.logouts[profile] == nil, !durable.surprisingRecords.contains(profile),
      durable.living(profile) != nil,
      let token = durable.refreshToken(of: profile),
      profiles.contains(where: { $0.name == profile && $0.issuer == durable.records[profile]?.binding.issuer })
    else { return true }
    return !server.families[token.family].isAlive
  }

  /// The time without use after which a session ends; nil where none does, or while that is being changed.
  func idleTimeout(of profile: ProfileName) -> Duration? {
    guard wishes.reconfigurations == 0, let rules = profiles.first(where: { $0.name == profile })?.rules,
      rules.idleTimeout > .zero
    else { return nil }
    return rules.idleTimeout
  }

  private func isBeingSaved(_ profile: ProfileName) -> Bool {
    life.storage.calls.contains { call in
      guard case .commit(let steps) = call.question else { return false }
      return steps.contains { step in
        guard case .record(let record) = step else { return false }
        return record.profile == profile
      }
    }
  }

  private func checkLogout(_ request: Request) throws(Violation) {
    for profile in request.profile.map({ [$0] }) ?? profiles.map(\.name) where wishes.signedOut.contains(profile) {
      guard let kept = durable.refreshToken(of: profile), kept.family < request.firstLater,
        !durable.surprisingRecords.contains(profile)
      else { continue }
      throw Violation(.logoutKept, "\(profile): the logout is answered before it is durable")
    }
  }

  /// Who a user is said to be rests in the store, unless that has refused it, or the session has ended or is another one by
  /// now; in a shared store it comes with the next refresh.
  private func checkUser(_ user: User, _ request: Request) throws(Violation) {
    guard let profile = request.profile, !weather.hasDiskFailed, !plan.endsWholeGrants,
      let state = session(profile)?.state, Subscriber.State(state) == .alive,
      durable.living(profile)?.user?.id == user.id, profiles.contains(where: { $0.name == profile && !$0.isShared })
    else { return }
    guard durable.users.contains(user) else {
      throw Violation(.durableFirst, "\(profile): \(user.name ?? "") is told before it is saved")
    }
  }

  /// Who a session is shown to be of is what the store says, unless that has refused it.
  private func checkUser(of session: Session) throws(Violation) {
    guard let user = session.user, session.storeDegraded != true, !isBeingSaved(session.profile),
      !durable.surprisingRecords.contains(session.profile), let living = durable.living(session.profile),
      profiles.contains(where: { $0.name == session.profile && !$0.isShared })
    else { return }
    guard living.user == user else {
      throw Violation(.durableFirst, "\(session.profile) is shown as \(user.name ?? "nobody")'s before that is saved")
    }
  }

  /// What must hold whenever the broker waits for the world.
  func check() throws(Violation) {
    for profile in profiles {
      guard let session = session(profile.name) else { continue }
      switch session.state {
      case .signedOut, .expired, .challengePending:
        guard try isLoginNeeded(profile.name) else {
          throw Violation(.sessionKept, "\(profile.name): \(session.state), but the provider's session lives")
        }
      case .authenticated, .refreshing, .offline:
        if wishes.signedOut.contains(profile.name) {
          throw Violation(.logoutKept, "\(profile.name): \(session.state)")
        }
        if wishes.isLocked { throw Violation(.lockHolds, "\(profile.name): \(session.state)") }
        try checkUser(of: session)
      case .locked: break
      }
    }
    for (number, request) in requests {
      guard request.isAnswered || request.isAbandoned else {
        if let deadline = request.deadline, deadline < life.clock.uptime {
          throw Violation(.answeredOnce, "request \(number) \(request.name) is not answered in its time")
        }
        continue
      }
      requests[number] = nil
    }
    let isWaiting = life.broker.assumeIsolated { $0.isWaiting }
    if !isWaiting, !life.providers.isIdle || !life.storage.isIdle && wishes.reconfigurations == 0 {
      throw Violation(.comesToRest, "the broker waits for nothing, and something is under way")
    }
    if isWaiting, life.providers.isIdle, life.storage.isIdle {
      throw Violation(.comesToRest, "the broker waits, and nothing is under way")
    }
    try checkSubscribers()
  }
}
