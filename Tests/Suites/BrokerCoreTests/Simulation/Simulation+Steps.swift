import BrokerCore
import BrokerProtocol

extension Simulation {
  /// What can be done in one step, and how often it is.
  enum Step: CaseIterable {
    case target, rejectedTarget
    case plain, cached, valid, forced, waiting, rejected, forbidden, abandon, login, wrongLogin, verify, wrongCode,
      resend
    case logout, logoutAll, user, lock, unlock, subscribe, resume, unsubscribe
    case provider, disk, diskAll, codes, network, outage, rotation, diskFull, revoke, theft
    case other, poll
    case moment, minute, hours, suspend, jump, crash, stop, reconfigure, settle

    /// How often, in relation to the others.
    var weight: Int {
      switch self {
      case .provider: 200
      case .disk: 160
      case .diskAll: 80
      case .plain, .cached: 60
      case .moment: 90
      case .forced, .login, .target: 50
      case .minute, .valid, .waiting, .rejected, .verify: 30
      case .crash, .abandon, .resume: 25
      case .subscribe, .user, .network, .rejectedTarget: 16
      case .forbidden, .wrongLogin, .wrongCode, .diskFull, .unlock, .outage: 12
      case .hours, .logout, .stop, .suspend, .jump, .resend, .unsubscribe, .codes, .reconfigure, .rotation: 8
      case .lock: 6
      case .logoutAll, .revoke, .theft: 3
      case .settle: 4
      // Drawn apart, where there is another broker.
      case .other, .poll: 0
      }
    }
  }

  private static let total = Step.allCases.reduce(0) { $0 + $1.weight }

  /// Draws what is done next.
  func chooseStep() -> Step {
    if plan.isShared, chance(0.25) { return chance(0.8) ? .other : .poll }
    var draw = Int.random(in: 0..<Self.total, using: &random)
    for step in Step.allCases {
      draw -= step.weight
      if draw < 0 { return step }
    }
    return .moment
  }

  /// Whether something happens that happens in this share of cases.
  func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

  private func drawProfile() -> ProfileName {
    let names = profiles.map(\.name) + [ProfileName.default]
    return names.randomElement(using: &random) ?? .default
  }

  func drawDuration(_ range: ClosedRange<Int>) -> Duration {
    .milliseconds(Int.random(in: range.lowerBound * 1000...range.upperBound * 1000, using: &random))
  }

  /// Does what was drawn.
  func take(_ step: Step) throws(Violation) {
    switch step {
    case .plain, .cached, .valid, .forced, .waiting, .rejected, .forbidden, .abandon: try takeToken(step)
    case .target: try askForTarget(drawProfile())
    case .rejectedTarget: try reportTarget(drawProfile())
    case .login, .wrongLogin, .verify, .wrongCode, .resend, .logout, .logoutAll, .user: try takePerson(step)
    case .lock: try lock()
    case .unlock: try unlock()
    case .subscribe, .resume, .unsubscribe: try takeSubscriber(step)
    case .reconfigure: try reconfigure()
    case .crash: try crash()
    case .stop: try stop()
    case .settle: try settle()
    default: try takeWorld(step)
    }
  }

  private func takeToken(_ step: Step) throws(Violation) {
    let profile = drawProfile()
    let timeout = drawDuration(1...60)
    switch step {
    case .cached: try askCache(profile, minValidity: chance(0.5) ? nil : drawDuration(0...60))
    case .valid:
      let params = GetAccessToken.Params(profile: profile, minValidity: drawDuration(0...600), timeout: timeout)
      try askForToken(params)
    case .forced: try askForToken(GetAccessToken.Params(profile: profile, timeout: timeout, forceRefresh: true))
    case .waiting: try askForToken(GetAccessToken.Params(profile: profile, timeout: timeout, waitForLogin: true))
    case .rejected: try reportRejected(profile, status: 401)
    case .forbidden: try reportRejected(profile, status: 403)
    case .abandon: try abandon()
    default: try askForToken(GetAccessToken.Params(profile: profile, timeout: timeout))
    }
  }

  private func takePerson(_ step: Step) throws(Violation) {
    let profile = drawProfile()
    switch step {
    case .login:
      // Whoever has a session seldom logs in.
      guard session(profile)?.state != .authenticated || chance(0.1) else { return }
      try logIn(profile, password: "right")
    case .wrongLogin: try logIn(profile, password: "wrong")
    case .verify: try verify(profile, code: "123456")
    case .wrongCode: try verify(profile, code: "000000")
    case .resend: try resend(profile)
    case .user: try askForUser(profile)
    default: try logOut(profile, all: step == .logoutAll)
    }
  }

  private func takeSubscriber(_ step: Step) throws(Violation) {
    let indices = subscribers.indices.dropFirst()
    guard let index = indices.randomElement(using: &random) else { return }
    let subscriber = subscribers[index]
    guard subscriber.asked == nil else { return }
    switch (step, subscriber.subscription) {
    case (.unsubscribe, let id?):
      trace.note("subscriber \(index) leaves")
      let params = Unsubscribe.Params(subscriptionID: id)
      life.broker.assumeIsolated { try? $0.unsubscribe(params, client: subscriber.client) }
      subscribers[index].subscription = nil
    case (.subscribe, nil):
      subscribers[index].states = [:]
      try subscribe(index, since: nil)
    case (.resume, nil): try subscribe(index, since: subscriber.seen)
    default: break
    }
  }

  private func takeWorld(_ step: Step) throws(Violation) {
    switch step {
    case .provider: try answerProvider()
    case .disk: try answerStorage()
    case .diskAll: for _ in 0..<20 { try answerStorage() }
    case .codes: server.wantsCode.formSymmetricDifference([drawProfile()])
    case .network: weather.isNetworkDown = !weather.isNetworkDown && chance(0.3)
    case .outage: changeOutage()
    case .rotation: beginRotation()
    case .diskFull: weather.isDiskFull = !weather.isDiskFull && chance(0.3)
    case .revoke, .theft: interfere(steals: step == .theft)
    case .other: try moveOther()
    case .poll: try poll()
    case .moment: try pass(drawDuration(0...5))
    case .minute: try pass(drawDuration(0...120))
    case .hours: try pass(drawDuration(0...7200))
    case .suspend: try suspend(drawDuration(0...7200))
    default: try jump()
    }
  }

  private func jump() throws(Violation) {
    let step = Duration.seconds(Int.random(in: -7200...7200, using: &random))
    weather.jumps += 1
    if life.storage.isIdle { weather.jumpsBeforeRecord = weather.jumps }
    life.clock.jump(step)
    trace.note("the wall clock is set by \(step)")
    life.clock.tellSet()
    try turn()
  }

  /// Somebody ends a session at the provider, or spends a refresh token that is not theirs.
  private func interfere(steals: Bool) {
    guard let profile = profiles.randomElement(using: &random)?.name,
      let token = durable.refreshToken(of: profile)
    else { return }
    if steals {
      let family = server.families[token.family]
      guard family.isAlive, family.rotates else { return }
      server.families[token.family].stolen.insert(family.current)
      server.families[token.family].current += 1
      trace.note("somebody spends R\(token.family).\(family.current)")
    } else {
      server.families[token.family].isAlive = false
      trace.note("somebody ends session \(token.family) at the provider")
    }
  }

  private func reconfigure() throws(Violation) {
    guard wishes.reconfigurations == 0 else { return }
    let names = ["default", "work"].compactMap(ProfileName.init)
    var chosen = names.map { name in
      profiles.first { $0.name == name }
        ?? BrokerLife.Profile(name: name, endsWholeGrants: plan.endsWholeGrants)
    }
    if chance(0.3) { chosen.removeLast() }
    for index in chosen.indices {
      if chance(0.1), !chosen[index].isShared { chosen[index].issuer = chance(0.5) ? "a.example" : "b.example" }
      guard chance(0.5) else { continue }
      chosen[index].rules = SessionRules(
        expiry: ExpiryPolicy(skew: drawDuration(0...90), refreshesInBackground: chance(0.7)),
        rotation: chance(0.5) ? .auto : .always, rotationGrace: server.grace,
        idleTimeout: chance(0.8) ? .zero : drawDuration(300...7200))
      let (name, timeout) = (chosen[index].name, chosen[index].rules.idleTimeout)
      if timeout > .zero { shortestIdleTimeouts[name] = min(shortestIdleTimeouts[name] ?? timeout, timeout) }
    }
    for new in chosen where profiles.contains(where: { $0.name == new.name && $0.issuer != new.issuer }) {
      wishes.moved.insert(new.name)
    }
    profilesBefore = profiles
    profiles = chosen
    wishes.reconfigurations += 1
    learnt = Learnt()
    durable.mayHaveParked = true
    trace.note("configured: \(chosen.map { "\($0.name) at \($0.issuer)" })")
    life.reconfigure(chosen)
    try turn()
  }
}
