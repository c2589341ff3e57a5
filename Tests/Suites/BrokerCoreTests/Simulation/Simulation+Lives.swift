import BrokerCore
import BrokerProtocol

/// How long tokens live, whatever the clocks say: no clock ends a session, and none makes a dead token look alive.
extension Simulation {
  /// What an answer says beside its token.
  struct Marks {
    let isOffline: Bool
    let isCapped: Bool

    /// Reads an answer.
    init(_ json: String) {
      isOffline = json.hasSuffix(#""offline":true}"#)
      isCapped = json.contains(#""minValidityCapped":true"#)
    }
  }

  /// Whether the broker can know how old a token is: the uptime counts on, or the wall clock was not set.
  func isDated(_ access: SimulatedServer.Access) -> Bool {
    access.boot == life.clock.boot || access.jumps == weather.jumps
  }

  /// The machine may be started again with the broker, and its clock be set meanwhile.
  func startElsewhere() {
    if chance(0.3) { boots += 1 }
    guard chance(0.3) else { return }
    let step = Duration.seconds(Int.random(in: -7200...7200, using: &random))
    trace.note("the wall clock is set by \(step) while nobody looks")
    life.clock.jump(step)
    weather.jumps += 1
  }

  /// What must hold for the life of a token that is given.
  func checkLife(
    _ access: SimulatedServer.Access, _ text: String, _ marks: Marks, _ request: Request
  ) throws(Violation) {
    guard let token = SimulatedServer.Token(text) else { return }
    let now = life.clock.uptime
    if request.isForced, marks.isOffline || request.before == token {
      throw Violation(.tokenGood, "\(text) is not new, and a new one was wanted")
    }
    if request.name == "cache", let profile = request.profile {
      guard marks.isOffline == (session(profile)?.state == .offline) else {
        throw Violation(.oneTruth, "\(text) is \(marks.isOffline ? "" : "not ")offline")
      }
    }
    guard let lifetime = server.families[token.family].accessLifetime, isDated(access) else { return }
    if let end = access.endsAt, end <= now { throw Violation(.tokenGood, "\(text) has ended") }
    let rest = access.askedAt + lifetime - now
    guard rest > .zero else { throw Violation(.tokenGood, "\(text) has ended, and the broker can know it") }
    let keepable = lifetime * 0.8
    if let said = request.said {
      guard marks.isCapped == (said.milliseconds > keepable.milliseconds) else {
        throw Violation(.tokenGood, "\(text) lives for \(lifetime), \(said) were wanted, capped is \(marks.isCapped)")
      }
      if marks.isCapped { counts.capped += 1 }
    }
    // While the breaker is open the living token is an ordinary answer, however long it lives.
    if let wanted = request.minValidity, !mayAwaitOther(request.profile), !marks.isOffline, !marks.isCapped,
      rest < wanted, wanted <= keepable,
      request.before == token, spending.recent(at: now) < RefreshBudget.limit
    {
      throw Violation(.tokenGood, "\(text) ends in \(rest), and \(wanted) were wanted")
    }
  }

  /// No refresh follows another one at once, unless a client has asked for that or the first has brought nothing.
  func checkPace(_ text: String, _ request: ProviderRequest) throws(Violation) {
    guard !spending.hasSent(text), let own = server.ownTokens[text], let access = server.access[own],
      let token = SimulatedServer.Token(text), server.families[token.family].rotates,
      isDated(access), let lifetime = server.families[token.family].accessLifetime
    else { return }
    let family = server.families[token.family]
    let isWanted =
      eagerAt[request.profile].map { $0 >= access.askedAt } ?? false
      || requests.values.contains { $0.profile == request.profile && $0.isEager && !$0.isAnswered }
    // An intent may rest in the store although nothing was sent, as a crash came or its commit has reported an error:
    // whoever finds it takes the token for spent, and sends it within the grace.
    let isReplay = family.grace > .zero && durable.replays.contains(request.profile)
    guard !isWanted, !isReplay else { return }
    counts.paced += 1
    let least = min(lifetime * 0.19, (family.refreshLifetime ?? .seconds(1 << 40)) * 0.6)
    let age = life.clock.uptime - access.askedAt
    guard age >= least else {
      throw Violation(.paced, "\(text) is sent \(age) after \(own) was asked for, which lives for \(lifetime)")
    }
  }

  /// The sessions that are to live on while nothing is in the way, by their profiles.
  var sessionsToKeep: [ProfileName: Int] {
    var kept: [ProfileName: Int] = [:]
    for profile in profiles where profile.rules.expiry.refreshesInBackground && profile.rules.idleTimeout == .zero {
      guard wishes.reconfigurations == 0, session(profile.name)?.state == .authenticated,
        let token = durable.refreshToken(of: profile.name), !durable.surprisingRecords.contains(profile.name),
        let own = server.ownTokens["R\(token.family).\(token.number)"], let access = server.access[own],
        isDated(access), spending.recent(at: life.clock.uptime) < RefreshBudget.limit / 2
      else { continue }
      let family = server.families[token.family]
      // Who was told of a lease waits for its end, and is not told that it has ended before: a refresh token may live for
      // a shorter time.
      guard !mayAwaitOther(profile.name), !profile.isShared || sharedDisk.intent(of: profile.name) == nil,
        family.isAlive, family.rotates, family.current == token.number, family.accessLifetime != nil,
        !server.hasExpired(token.family, at: life.clock.uptime)
      else { continue }
      kept[profile.name] = token.family
    }
    return kept
  }

  /// Looks whether they have.
  func checkKept(_ kept: [ProfileName: Int]) throws(Violation) {
    for (profile, number) in kept {
      counts.keptAlive += 1
      guard !server.families[number].hasExpired, !server.hasExpired(number, at: life.clock.uptime) else {
        throw Violation(.keptAlive, "the refresh token of \(profile)'s session \(number) has run out")
      }
    }
  }
}

extension SimulatedServer {
  /// Whether the refresh token of a family that is good has ended by now.
  func hasExpired(_ family: Int, at uptime: Duration) -> Bool {
    families[family].refreshEndsAt.map { $0 <= uptime } ?? false
  }
}

extension Simulation.Request {
  /// Whether it may cost a refresh whatever the token's life is.
  var isEager: Bool { isForced || target != nil || !(name == "getAccessToken" || name == "cache") }
}
