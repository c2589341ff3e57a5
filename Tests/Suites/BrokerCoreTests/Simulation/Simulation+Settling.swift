import BrokerCore
import BrokerProtocol

/// What must hold when all troubles are over.
extension Simulation {
  /// Ends all troubles, answers everything, and looks whether everything is in order.
  func settle() throws(Violation) {
    trace.note("all troubles end")
    weather.isNetworkDown = false
    weather.isDiskFull = false
    outages = [:]
    try endOther()
    try rest()
    if wishes.isLocked || session(profiles[0].name)?.state == .locked { try unlock() }
    let kept = sessionsToKeep
    // Longer than any deadline, and than the longest wait of a save.
    try pass(.seconds(120), healthily: true)
    try checkKept(kept)
    // The first may have been refused, as something was still to be saved.
    if session(profiles[0].name)?.state == .locked { try unlock() }
    try rest()
    try check()
    guard requests.isEmpty else {
      throw Violation(.answeredOnce, "not answered: \(requests.values.map(\.name).sorted())")
    }
    guard life.providers.isIdle, life.storage.isIdle else { throw Violation(.comesToRest, "something is under way") }
    try checkCompleteness()
    for profile in profiles.map(\.name) {
      try checkOverwritten(profile)
      try checkRecovery(profile)
    }
  }

  /// A login that was answered with an error must not come back with the next start.
  private func checkOverwritten(_ profile: ProfileName) throws(Violation) {
    guard let state = session(profile)?.state, durable.living(profile) != nil, isConfigured(profile) else { return }
    guard state != .signedOut else {
      throw Violation(.loginKept, "\(profile) is signed out, and a session of it rests in the store")
    }
  }

  /// Answers everything, until nothing is asked any more.
  func rest() throws(Violation) {
    for _ in 0..<1000 {
      if !life.storage.isIdle {
        try answerStorage(healthily: true)
      } else if !life.providers.isIdle {
        try answerProvider(healthily: true)
      } else {
        return
      }
    }
    throw Violation(.comesToRest, "the broker asks without an end")
  }

  private func checkCompleteness() throws(Violation) {
    guard let first = told.first(where: { $0.time >= Timestamp(milliseconds: 0) })?.sequence else { return }
    let known = Set(told.map(\.sequence))
    for sequence in durable.sequences.sorted() where sequence > first && !known.contains(sequence) {
      guard !durable.surprising.contains(sequence), !durable.crashed.contains(sequence) else { continue }
      throw Violation(.eventsComplete, "event \(sequence) rests in the store and was told to nobody")
    }
  }

  /// A session that lives at the provider, with the token that the store has, must be usable; any other must say so.
  private func checkRecovery(_ profile: ProfileName) throws(Violation) {
    guard let token = durable.refreshToken(of: profile), isConfigured(profile),
      !durable.surprisingRecords.contains(profile)
    else { return }
    let family = server.families[token.family]
    let isGood =
      family.isAlive && token.number == family.current && !server.hasExpired(token.family, at: life.clock.uptime)
    // Longer than any access token lives, in steps longer than any wait after a failure.
    for _ in 0..<5 {
      let params = GetAccessToken.Params(
        profile: profile, minValidity: .zero, timeout: .seconds(5), forceRefresh: family.accessLifetime != nil)
      try askForToken(params)
      // A token without an end is given until somebody says that it is refused.
      if family.accessLifetime == nil { try reportRejected(profile, status: 401) }
      try rest()
      if server.families[token.family].issued > family.issued || durable.living(profile) == nil { break }
      let rest = durable.living(profile)?.tokens.accessTokenExpiresAt.map { $0 - life.clock.now }
      try pass(max(.seconds(310), rest ?? .zero), healthily: true)
    }
    try check()
    if isGood, durable.living(profile) != nil { try checkTargetRecovery(profile) }
    if isGood, server.families[token.family].issued == family.issued,
      durable.living(profile).map(hasRefreshTokenEnded) == false
    {
      throw Violation(.recovers, "\(profile) is not refreshed though its session lives")
    }
    if !isGood, family.accessLifetime != nil, durable.living(profile) != nil {
      throw Violation(.recovers, "\(profile) goes on though its session is over")
    }
  }

  /// Whether a profile is configured for the place that its session is bound to.
  private func isConfigured(_ profile: ProfileName) -> Bool {
    profiles.contains { $0.name == profile && $0.issuer == durable.records[profile]?.binding.issuer }
  }
}
