package import BrokerProtocol
package import SecretMemory

/// One login that waits for its code.
package struct PendingLogin: Sendable, Equatable {
  /// What clients know of it.
  package var challenge: OTPChallenge
  /// The provider's own handle.
  package var flow: Secret

  /// A login.
  package init(challenge: OTPChallenge, flow: Secret) {
    self.challenge = challenge
    self.flow = flow
  }
}

/// The logins that wait for a code: one a profile, each under a handle that nobody can guess.
///
/// Any client allowed on the profile may answer; a newer login replaces an older one.
package struct PendingLogins: Sendable {
  private var byID: [String: PendingLogin] = [:]
  private var idOfProfile: [ProfileName: String] = [:]

  /// No login waits.
  package init() {}

  /// Whether no login waits.
  package var isEmpty: Bool { byID.isEmpty }

  /// The challenge of a profile, unless it has ended.
  package func challenge(of profile: ProfileName, at now: Timestamp) -> OTPChallenge? {
    guard let id = idOfProfile[profile], let login = byID[id], login.challenge.expiresAt > now else { return nil }
    return login.challenge
  }

  /// Takes up a challenge that a provider has just made; an older one of the profile is forgotten.
  package mutating func begin(
    _ challenge: ProviderChallenge, id: String, profile: ProfileName
  ) -> OTPChallenge {
    forget(profile: profile)
    let known = Self.describe(challenge, id: id, profile: profile)
    byID[id] = PendingLogin(challenge: known, flow: challenge.flow)
    idOfProfile[profile] = id
    return known
  }

  private static func describe(_ challenge: ProviderChallenge, id: String, profile: ProfileName) -> OTPChallenge {
    OTPChallenge(
      otpFlowID: id, profile: profile, method: challenge.method, maskedDestination: challenge.maskedDestination,
      otpLength: challenge.otpLength, expiresAt: challenge.expiresAt, nextResendAt: challenge.nextResendAt,
      attemptsRemaining: challenge.attemptsRemaining, backupCodesAllowed: challenge.backupCodesAllowed)
  }

  /// The login behind a handle, unless it has ended.
  package func find(_ id: String, at now: Timestamp) -> PendingLogin? {
    guard let login = byID[id], login.challenge.expiresAt > now else { return nil }
    return login
  }

  /// Takes over what the provider says after another code was sent.
  package mutating func renew(_ id: String, with challenge: ProviderChallenge) -> OTPChallenge? {
    guard let login = byID[id] else { return nil }
    let renewed = Self.describe(challenge, id: id, profile: login.challenge.profile)
    byID[id] = PendingLogin(challenge: renewed, flow: challenge.flow)
    return renewed
  }

  /// Takes over how many more wrong codes the provider accepts.
  package mutating func setAttemptsRemaining(_ count: Int, of id: String) {
    byID[id]?.challenge.attemptsRemaining = count
  }

  /// Forgets the login of a profile; false where none waits.
  @discardableResult
  package mutating func forget(profile: ProfileName) -> Bool {
    guard let id = idOfProfile.removeValue(forKey: profile) else { return false }
    byID[id] = nil
    return true
  }

  /// Forgets every login that has ended, and names their profiles.
  package mutating func forgetEnded(at now: Timestamp) -> [ProfileName] {
    let ended = byID.values.filter { $0.challenge.expiresAt <= now }
    for login in ended { forget(profile: login.challenge.profile) }
    return ended.map(\.challenge.profile)
  }

  /// Takes up a login that rested in the store.
  package mutating func restore(_ login: PendingLogin) {
    forget(profile: login.challenge.profile)
    byID[login.challenge.otpFlowID] = login
    idOfProfile[login.challenge.profile] = login.challenge.otpFlowID
  }

  /// The login behind a handle, ended or not.
  package func login(of id: String) -> PendingLogin? { byID[id] }

  /// The profile of the login behind a handle.
  package func profile(of id: String) -> ProfileName? { byID[id]?.challenge.profile }

  /// When the next login ends; nil where none waits.
  package var nextEnd: Timestamp? { byID.values.map(\.challenge.expiresAt).min() }
}
