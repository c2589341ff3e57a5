import BrokerProtocol

/// Logouts that are not answered yet.
struct Logouts {
  /// One profile's part in a logout.
  struct Part {
    /// Names the logout.
    let logout: UInt64
    /// The profile.
    let profile: ProfileName
  }

  private var gatherings: [UInt64: LogoutGathering] = [:]
  private var parts: [PendingRevocation.ID: Part] = [:]
  private var count: UInt64 = 0

  /// A name for the next logout.
  mutating func newID() -> UInt64 {
    count += 1
    return count
  }

  /// Begins a logout.
  mutating func begin(_ id: UInt64, _ gathering: LogoutGathering) { gatherings[id] = gathering }

  /// The profiles of a logout, in the order of its answer; nil for one that is answered.
  func profiles(of id: UInt64) -> [ProfileName]? { gatherings[id]?.order }

  /// Changes a logout.
  ///
  /// - Returns: the logout with its answer, once, when nothing is to come any more.
  mutating func update(
    _ id: UInt64, _ change: (inout LogoutGathering) -> Void
  ) -> (logout: LogoutGathering, answer: Result<Logout.Result, BrokerError>)? {
    guard var logout = gatherings[id] else { return nil }
    change(&logout)
    gatherings[id] = logout
    guard let answer = logout.answer else { return nil }
    gatherings[id] = nil
    return (logout, answer)
  }

  /// Takes in that a logout waits for the first try of a revocation.
  mutating func expect(_ revocation: PendingRevocation.ID, for part: Part) { parts[revocation] = part }

  /// Takes out the part that waited for the first try of a revocation; nil where none does.
  mutating func takePart(waitingFor revocation: PendingRevocation.ID) -> Part? {
    parts.removeValue(forKey: revocation)
  }

  /// Forgets which revocations are waited for: the vault was locked, and they are forgotten too.
  mutating func forgetRevocations() { parts = [:] }
}
