import BrokerCore
import BrokerProtocol

/// How far the clock of this machine is ahead of the store's, as readings show: by it the times that other members have
/// written are read.
///
/// A value: it reads no clock.
struct FleetClock {
  /// Clocks that differ by less count as the same, since a reading takes time.
  ///
  /// A reading that has taken longer shows nothing.
  static let tolerance = Duration.seconds(5)

  /// The clock of this machine.
  let wall: @Sendable () -> Timestamp
  /// The identifier of the machine's start: times of the same start need no store to be read; nil where it is unknown.
  let boot: String?
  /// By so many milliseconds; nil before the first reading.
  private(set) var ahead: Int64?

  /// A clock, before any reading.
  init(_ wall: @escaping @Sendable () -> Timestamp, boot: String?) { (self.wall, self.boot) = (wall, boot) }

  /// Notes a reading, which was begun and ended at these times of this machine, and showed that time of the store.
  ///
  /// - Returns: whether the clocks can be compared by this or an earlier reading.
  mutating func note(_ time: Int64, from begin: Timestamp, to end: Timestamp) -> Bool {
    let taken = end - begin
    guard taken >= .zero, taken <= Self.tolerance + .seconds(1) else { return ahead != nil }
    ahead = (begin.milliseconds + end.milliseconds) / 2 - time
    return true
  }

  /// The contents of a record whose times are by a clock that was ahead of the store's by so many milliseconds.
  func read(_ contents: SessionRecord.Contents, ahead other: Int64) -> SessionRecord.Contents {
    guard let ahead, case .living(let session) = contents else { return contents }
    let shift = Duration.milliseconds(ahead - other)
    if let boot, session.clock?.boot == boot { return contents }
    guard shift > Self.tolerance || shift < .zero - Self.tolerance else { return contents }
    return .living(session.shown(by: shift))
  }
}

extension LivingSession {
  /// The session by a clock that shows a later time by so much; when its user has authenticated stays as it was said.
  fileprivate func shown(by shift: Duration) -> LivingSession {
    var session = self
    session.issuedAt = issuedAt + shift
    session.tokens.accessTokenExpiresAt = tokens.accessTokenExpiresAt.map { $0 + shift }
    session.tokens.refreshTokenExpiresAt = tokens.refreshTokenExpiresAt.map { $0 + shift }
    session.refreshTokenIssuedAt = refreshTokenIssuedAt.map { $0 + shift }
    session.lastRefreshAt = lastRefreshAt.map { $0 + shift }
    session.lastValidatedAt = lastValidatedAt + shift
    session.lastUsedAt = lastUsedAt.map { $0 + shift }
    session.roughlyUsedAt = roughlyUsedAt.map { $0 + shift }
    session.clock?.providerAhead = clock?.providerAhead.map { $0 - shift }
    return session
  }
}
