import BrokerCore
import BrokerProtocol

/// How far the clock of this machine is ahead of the store's, as readings show: by it the times that other members have
/// written are read.
///
/// A value: it asks the clocks that it was given.
struct FleetClock {
  /// Clocks that differ by less count as the same, since a reading takes time.
  ///
  /// A reading that has taken longer shows nothing.
  static let tolerance = Duration.seconds(5)

  /// The clocks of this machine.
  let now: @Sendable () -> Moment
  /// The identifier of the machine's start: times of the same start need no store to be read; nil where it is unknown.
  let boot: String?
  /// By so many milliseconds; nil before the first reading.
  private(set) var ahead: Int64?

  /// Clocks, before any reading.
  init(_ now: @escaping @Sendable () -> Moment, boot: String?) { (self.now, self.boot) = (now, boot) }

  /// Notes a reading, which was begun and ended at these times of this machine, and showed that time of the store.
  ///
  /// - Returns: whether the clocks can be compared by this or an earlier reading.
  mutating func note(_ time: Int64, from begin: Timestamp, to end: Timestamp) -> Bool {
    let taken = end - begin
    guard taken >= .zero, taken <= Self.tolerance + .seconds(1) else { return ahead != nil }
    ahead = (begin.milliseconds + end.milliseconds) / 2 - time
    return true
  }

  /// How far the clock that the times of a record are by was ahead of the store's, in milliseconds: it may have been set
  /// since the tokens came.
  func ahead(of contents: SessionRecord.Contents) -> Int64 {
    guard case .living(let session) = contents, let clock = session.clock, let boot, clock.boot == boot else {
      return ahead ?? 0
    }
    return (ahead ?? 0) + (clock.bootedAt - now().bootedAt).milliseconds
  }

  /// The contents of a record whose times are by a clock that was ahead of the store's by so many milliseconds.
  ///
  /// Those of another machine are by the present clock of this one then, as those of its own are: what they are from is
  /// measured, and nothing is left to be guessed of either clock.
  func read(_ contents: SessionRecord.Contents, ahead other: Int64) -> SessionRecord.Contents {
    guard let ahead, case .living(var session) = contents else { return contents }
    if let boot, session.clock?.boot == boot { return contents }
    let shift = Duration.milliseconds(ahead - other)
    if shift > Self.tolerance || shift < .zero - Self.tolerance { session.move(by: shift) }
    let now = now()
    // The store's clock has gone back since: no token lives for longer than its lifetime from now.
    if session.issuedAt > now.wall { session.move(by: now.wall - session.issuedAt) }
    guard let clock = session.clock else { return .living(session) }
    session.lastUsedUptime = nil
    session.clock = IssueClock(
      boot: boot, bootedAt: now.bootedAt, providerAhead: boot == nil ? nil : clock.providerAhead)
    return .living(session)
  }
}

extension LivingSession {
  /// Puts its times by a clock that shows a later time by so much; when its user has authenticated stays as it was said.
  fileprivate mutating func move(by shift: Duration) {
    issuedAt = issuedAt + shift
    tokens.accessTokenExpiresAt = tokens.accessTokenExpiresAt.map { $0 + shift }
    tokens.refreshTokenExpiresAt = tokens.refreshTokenExpiresAt.map { $0 + shift }
    refreshTokenIssuedAt = refreshTokenIssuedAt.map { $0 + shift }
    lastRefreshAt = lastRefreshAt.map { $0 + shift }
    lastValidatedAt = lastValidatedAt + shift
    lastUsedAt = lastUsedAt.map { $0 + shift }
    roughlyUsedAt = roughlyUsedAt.map { $0 + shift }
    if let ahead = clock?.providerAhead { clock?.providerAhead = ahead - shift }
  }
}
