import BrokerProtocol

/// One logout on its way, with the answers that are still outstanding.
struct LogoutGathering {
  /// The profiles, in the order of the answer.
  var order: [ProfileName]
  /// The profiles whose sign-out is not durable yet.
  var unsaved: Set<ProfileName>
  /// The kept sessions whose end is not durable yet.
  var unsavedParked: Set<ParkedSession.ID> = []
  /// The provider's answer for each profile.
  private(set) var revoked: [ProfileName: LogoutOutcome.ServerRevoked] = [:]
  /// Whether the store is still being read for sessions of profiles that have left the configuration.
  var isReading: Bool
  /// The sessions that may have ended as well, and are still being examined.
  var unexamined: Set<SlotID> = []
  /// The profiles whose sign-out could not be made durable, and whether their records are shared.
  var unwritten: [(profile: ProfileName, isShared: Bool)] = []
  /// Whether sessions of profiles that have left the configuration may still be there: nothing tries their end again.
  var hasLeftSessions = false
  /// Ends the waiting for providers.
  let timer: TimerCancellation
  /// The caller that waits for the answer.
  let caller: Caller<Logout.Result>

  /// A logout at its beginning.
  init(
    _ profiles: [ProfileName], isReading: Bool, _ timer: TimerCancellation, _ caller: Caller<Logout.Result>
  ) {
    order = profiles
    self.isReading = isReading
    self.timer = timer
    unsaved = Set(profiles)
    self.caller = caller
  }

  /// Notes the outcome of a profile's revocation; the first one holds.
  mutating func note(_ outcome: LogoutOutcome.ServerRevoked, of profile: ProfileName) {
    revoked[profile] = revoked[profile] ?? outcome
  }

  /// The answer, as soon as nothing is to come any more.
  var answer: Result<Logout.Result, BrokerError>? {
    guard !isReading, unsaved.isEmpty, unsavedParked.isEmpty, unexamined.isEmpty, revoked.count == order.count
    else { return nil }
    guard !hasLeftSessions else {
      return .failure(
        BrokerError(
          .storeFailed,
          "The sessions of configured profiles have ended, but the vault could not be read or written for the others; "
            + "log out again."))
    }
    if !unwritten.isEmpty { return .failure(BrokerError(.storeFailed, Self.sentence(on: unwritten.map(\.isShared)))) }
    return .success(
      Logout.Result(results: order.map { LogoutOutcome(profile: $0, serverRevoked: revoked[$0] ?? .no) }))
  }

  /// The sentence on sign-outs that could not be made durable; `areShared` says of each whether its record is shared.
  private static func sentence(on areShared: [Bool]) -> String {
    let place =
      areShared.contains(false)
      ? areShared.contains(true) ? "the vault and the database of the fleet" : "the vault" : "the database of the fleet"
    let others =
      areShared.contains(true) ? " Until then it lives on the other members; authbroker fleet status says why." : ""
    return "The session is forgotten here, but \(place) could not be written; it is tried again.\(others)"
  }
}
