import BrokerProtocol
import SecretMemory

/// Second factors that are being enrolled: of each profile one at most, until its first code is right.
///
/// They rest in memory alone and belong to the session that began them. Whether that session lives is its runner's to see:
/// ``Broker/enrolment(_:)``.
struct Enrolments {
  /// One of them.
  struct Enrolment {
    /// The broker's handle.
    let id: String
    /// The profile.
    let slot: SlotID
    /// The session of the profile that began the enrolment; see ``ProfileSlot/sessions``.
    let session: UInt64
    /// The provider's own handle.
    let flow: Secret
    /// How many digits its codes have.
    let otpLength: Int
    /// When it ends unless a code confirms it.
    let expiresAt: Timestamp
    /// How many more wrong codes are accepted.
    fileprivate(set) var attemptsRemaining: Int
  }

  private var enrolments: [ProfileName: Enrolment] = [:]

  /// Begins one; an earlier one of the profile ends.
  ///
  /// - Parameters:
  ///   - id: the broker's handle.
  ///   - provided: what the provider said.
  ///   - slot: the profile.
  ///   - session: which session of the profile has begun it.
  mutating func begin(_ id: String, _ provided: ProviderEnrolment, on slot: SlotID, session: UInt64) {
    enrolments[slot.profile] = Enrolment(
      id: id, slot: slot, session: session, flow: provided.flow, otpLength: provided.otpLength,
      expiresAt: provided.expiresAt,
      attemptsRemaining: min(provided.attemptsRemaining, LoginMachine.wrongCodeLimit))
  }

  /// The enrolment behind a handle, unless its time is over.
  func find(_ id: String, at now: Timestamp) -> Enrolment? {
    enrolments.values.first { $0.id == id && $0.expiresAt > now }
  }

  /// Whether one waits for its code.
  func isAnyPending(at now: Timestamp) -> Bool { enrolments.values.contains { $0.expiresAt > now } }

  /// Counts a wrong code; the last one ends the enrolment.
  ///
  /// - Parameters:
  ///   - id: the broker's handle.
  ///   - isGuess: false for what cannot be a code: it counts where the provider counts it.
  ///   - provided: how many codes the provider accepts yet, where it counts them.
  /// - Returns: how many are accepted yet.
  mutating func countWrongCode(_ id: String, isGuess: Bool, provided: Int?) -> Int {
    guard var enrolment = enrolments.values.first(where: { $0.id == id }) else { return 0 }
    enrolment.attemptsRemaining = max(min(enrolment.attemptsRemaining - (isGuess ? 1 : 0), provided ?? .max), 0)
    enrolments[enrolment.slot.profile] = enrolment.attemptsRemaining > 0 ? enrolment : nil
    return enrolment.attemptsRemaining
  }

  /// Ends an enrolment: it is confirmed, or its provider has ended it.
  mutating func end(_ id: String) { enrolments = enrolments.filter { $0.value.id != id } }

  /// Ends the enrolment of a profile: its session is over, or another one.
  mutating func end(of profile: ProfileName) { enrolments[profile] = nil }

  /// Ends all: the vault is locked.
  mutating func endAll() { enrolments = [:] }
}
