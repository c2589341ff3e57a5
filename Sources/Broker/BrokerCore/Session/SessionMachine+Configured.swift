import BrokerProtocol

/// Sessions whose token is a secret of the configuration.
///
/// Its source is asked by the first caller, where the configuration is read again, and once for each report that a server
/// has refused it; never by the clock. Nothing of it is written down. A report takes the secret from no other client:
/// another one in its place is the new token, and the same one is refused to the reporter alone, since the source says
/// that it holds.
extension SessionMachine {
  /// How long after a refusal the source is not asked on its account: as long as someone takes to put another secret there.
  package static let refusalPause = Duration.seconds(10)

  /// Adopts what a provider says of its sessions.
  mutating func serve(_ provider: any AuthProvider, isShared: Bool) {
    let grant = provider.capabilities.grant
    self.isShared = isShared
    isUnattended = grant != nil
    isConfigured = grant?.configuredField != nil
  }

  /// Whether the source is to be asked again by the next caller, after a refusal of what it gave.
  func isDoubted(at now: Moment) -> Bool { life?.doubtEnds.map { $0 <= now.uptime } ?? false }

  /// The error for the report of a secret that its source gave again just now; nil where the source is to be asked.
  func refusal(ofReport demand: TokenDemand, _ now: Moment) -> BrokerError? {
    guard isConfigured, demand.isRefused, let end = life?.doubtEnds, now.uptime < end else { return nil }
    return sameSecret
  }

  /// Reads the secret again, as the configuration was: what is being read may be older than that.
  mutating func readAgain(_ now: Moment) -> [Action] {
    isReadStale = first.isUnderWay || isSigningIn || life?.saving != nil || refresh.isUnderWay
    life?.isOutdated = true
    life?.doubtEnds = nil
    return life == nil ? [] : refreshOrJoin(now)
  }

  /// Takes in a secret that was read for a living session; nil for another one than that has.
  ///
  /// What was read before the configuration was is not given to anyone, and read again.
  mutating func confirm(_ tokens: TokenSet, of flight: UInt64, _ now: Moment) -> [Action]? {
    guard isConfigured, let life, isReadStale || tokens.accessToken == life.session.tokens.accessToken else {
      return nil
    }
    _ = refresh.handle(.succeeded(flight: flight), terms, at: now)
    _ = refresh.handle(.settled, terms, at: now)
    answerVersion += 1
    if isReadStale { return readStale(now) }
    self.life?.doubtEnds = life.isAccessTokenRefused ? now.uptime + Self.refusalPause : nil
    self.life?.isOutdated = false
    self.life?.isAccessTokenRefused = false
    let waiting = demands
    demands = []
    return waiting.map {
      $0.isRefused ? .answerError($0.waiter, sameSecret) : .answerToken($0.waiter, marks($0))
    }
  }

  /// Reads once more what was read before the configuration was; the callers go on waiting.
  mutating func readStale(_ now: Moment) -> [Action] {
    isReadStale = false
    guard life == nil else {
      life?.isOutdated = true
      return startRefresh(now)
    }
    guard case .send(let flight) = first.want(at: now.uptime) else { return [] }
    return [.requestFirst(flight: flight)]
  }

  /// Lets the next caller have the secret read at once, where a read has failed that is older than the configuration.
  mutating func forgiveStaleRead(_ now: Moment) {
    guard isReadStale else { return }
    isReadStale = false
    _ = refresh.handle(.reconfigured, terms, at: now)
  }

  private var sameSecret: BrokerError {
    var error = BrokerError(
      .missingCredential,
      "The server refused the secret of this profile, and its source still gives the same one; put another one there, or "
        + "check what this one is allowed.", profile: profile)
    error.nextAction = .fixConfig
    return error
  }
}
