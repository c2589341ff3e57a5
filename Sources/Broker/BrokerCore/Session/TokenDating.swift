package import BrokerProtocol

/// The clocks of the machine when the tokens of a session were asked for, as they are kept beside the tokens.
///
/// The wall clock may have been wrong then, or be wrong when they are read. The uptime is not, for as long as the machine is
/// not started again.
package struct IssueClock: Sendable, Equatable {
  /// The identifier of the machine's start that the uptime counts from; nil where it is unknown.
  package var boot: String?
  /// When that was, by the wall clock of then.
  package var bootedAt: Timestamp
  /// How far the provider's clock was ahead of the wall clock, where its reply has a time.
  package var providerAhead: Duration?

  package init(boot: String?, bootedAt: Timestamp, providerAhead: Duration? = nil) {
    self.boot = boot
    self.bootedAt = bootedAt
    self.providerAhead = providerAhead
  }

  /// The clocks at a moment.
  init(_ boot: String?, at moment: Moment, providerAhead: Duration?) {
    self.init(boot: boot, bootedAt: moment.bootedAt, providerAhead: providerAhead)
  }
}

extension Moment {
  /// When the uptime began to count, by the wall clock of now.
  package var bootedAt: Timestamp { wall + (.zero - uptime) }
}

/// The conversion of the times kept with a session's tokens to the present clocks.
///
/// Tokens live for so long after they came, whatever the wall clock says: their lives run in uptime. Where the machine
/// was started again meanwhile, only the wall clock is left, of then and of now, and either may be wrong. Then a token
/// is rather taken for too old than for too young: that costs one refresh. Nothing that is read here ends a session.
struct TokenDating: Sendable, Equatable {
  /// Clocks that differ by less are taken for the same, and a moment that lies less ahead for the present: they are set by
  /// the network, or by hand to the minute.
  static let tolerance = Duration.seconds(60)
  /// A wall clock that has moved by less against the uptime was not set: it is being slewed, or read a moment later.
  static let unsetDrift = Duration.seconds(5)

  /// The source of the times.
  private enum Source: Sendable, Equatable {
    /// Both clocks have run since.
    case present
    /// The machine was started in between, and they were read at this uptime.
    case earlierBoot(readAt: Duration)
  }

  /// A moment on both clocks, by which moments of one are converted to the other.
  private(set) var since: Moment
  /// How much later the kept times are by the present wall clock.
  private(set) var shift = Duration.zero
  private var source = Source.present

  /// The dating of tokens that were asked for at a moment.
  init(askedAt moment: Moment) { since = moment }

  /// The dating of tokens that were read from the store; `verdict` is how far other clocks are ahead, where that is known.
  init(_ session: LivingSession, boot: String?, verdict: Duration?, at now: Moment) {
    since = now
    if let clock = session.clock, let boot, clock.boot == boot,
      // A machine that was restored from a snapshot counts from before.
      session.issuedAt - clock.bootedAt <= now.uptime
    {
      shift = now.bootedAt - clock.bootedAt
    } else {
      source = .earlierBoot(readAt: now.uptime)
      shift = Self.shift(session, verdict, at: now)
      limit(session)
    }
  }

  /// A kept time on both clocks.
  func deadline(_ time: Timestamp) -> Deadline { since.deadline(time + shift) }

  /// Adjusts to the present clocks, and to how far other ones are ahead where that is known.
  ///
  /// - Returns: whether the kept times are read in another way from now on.
  mutating func follow(_ session: LivingSession, verdict: Duration?, isNew: Bool = false, at now: Moment) -> Bool {
    let step = now.bootedAt - since.bootedAt
    guard isNew || step > Self.unsetDrift || step < .zero - Self.unsetDrift else { return false }
    let before = self
    switch source {
    case .present:
      since.wall = since.wall + step
      shift += step
    case .earlierBoot:
      let end = accessEnd(session)
      since = now
      shift = Self.shift(session, verdict, at: now)
      limit(session)
      // Where the provider can be asked, no clock that was set makes a token younger.
      if verdict == nil, session.tokens.refreshToken != nil, let end, let new = accessEnd(session), new > end {
        shift -= new - end
      }
    }
    return self != before
  }

  /// When the access token ends, in uptime.
  private func accessEnd(_ session: LivingSession) -> Duration? {
    session.tokens.accessTokenExpiresAt.map { deadline($0).uptime }
  }

  /// A token cannot live for longer than its lifetime from when it was read.
  private mutating func limit(_ session: LivingSession) {
    guard case .earlierBoot(let readAt) = source, let expiry = session.tokens.accessTokenExpiresAt,
      let end = accessEnd(session)
    else { return }
    let latest = readAt + (expiry - session.issuedAt)
    if end > latest { shift -= end - latest }
  }

  /// The shift of times from an earlier start of the machine, by the present wall clock.
  private static func shift(_ session: LivingSession, _ verdict: Duration?, at now: Moment) -> Duration {
    let providerAhead = session.clock?.providerAhead
    // One source may be a proxy's, so alone it makes no token younger.
    let single = providerAhead.map { $0 < .zero - tolerance ? $0 : .zero } ?? .zero
    let agreed = verdict.map { (providerAhead ?? .zero) - $0 }
    for shift in [agreed, single].compactMap(\.self) where session.issuedAt + shift <= now.wall + tolerance {
      return shift
    }
    // It would have been issued in the future: how old it is cannot be told, so its provider is asked.
    return session.tokens.accessTokenExpiresAt.map { now.wall - $0 } ?? .zero
  }
}
