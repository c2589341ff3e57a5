import BrokerProtocol

/// One session that is examined, as a part of an examination.
struct SessionCheck: Sendable {
  /// Names the examination.
  let id: UInt64
  /// The profile.
  let slot: SlotID
  /// Why the provider may have ended the session.
  let reason: LogoutEvent.Reason
}

/// Examinations of sessions that their provider may have ended, until every session of theirs is examined.
struct SessionChecks {
  /// One examination.
  struct Examination {
    /// Who waits for it.
    let caller: Caller<Empty>
    /// The profile that the caller asked for.
    let profile: ProfileName
    /// Why the end of a session could not be made durable.
    fileprivate(set) var failure: StoreFailure?
    /// The profiles whose sessions are still being examined.
    fileprivate var open: Set<ProfileName>
  }

  private var examinations: [UInt64: Examination] = [:]
  private var count: UInt64 = 0

  /// Begins to examine the sessions of some profiles, for a caller who asked for one.
  ///
  /// - Returns: the name of the examination.
  mutating func begin(_ profiles: [ProfileName], for caller: Caller<Empty>, of profile: ProfileName) -> UInt64 {
    count += 1
    examinations[count] = Examination(caller: caller, profile: profile, open: Set(profiles))
    return count
  }

  /// Takes in that one session was examined.
  ///
  /// - Returns: the examination, once none is left.
  mutating func close(_ check: SessionCheck, _ failure: StoreFailure?) -> Examination? {
    guard var examination = examinations[check.id] else { return nil }
    examination.open.remove(check.slot.profile)
    examination.failure = examination.failure ?? failure
    examinations[check.id] = examination.open.isEmpty ? nil : examination
    return examination.open.isEmpty ? examination : nil
  }
}
