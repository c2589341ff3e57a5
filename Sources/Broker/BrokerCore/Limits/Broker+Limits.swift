import BrokerProtocol

/// Rate limits on clients' calls to providers, and on guesses.
extension Broker {
  /// Takes a token for a call of a profile's provider.
  ///
  /// `account` is the account of the call, as the client names it; nil means the profile's own user.
  func admit(
    _ call: CallLimiter.Call, _ account: String?, on slot: ProfileSlot, for client: ClientID?
  ) throws(BrokerError) {
    let subject = subject(account ?? Self.account(of: slot), on: slot, for: client)
    if let refusal = limiter.admit(call, subject, at: now.uptime) { throw error(refusal, slot.name) }
  }

  /// Checks that there is a token for a call that may still be refused for another reason.
  ///
  /// - Throws: `rateLimited` with the time to wait.
  func requireToken(
    for call: CallLimiter.Call, _ account: String, on slot: ProfileSlot, for client: ClientID?
  ) throws(BrokerError) {
    if let refusal = limiter.refusal(of: call, subject(account, on: slot, for: client), at: now.uptime) {
      throw error(refusal, slot.name)
    }
  }

  /// Takes a token for a login.
  ///
  /// It is not known before whether a login will have a code sent; so none is begun for an account that has been sent
  /// too many, or that may not guess any more today.
  func admitLogin(_ account: String?, on slot: ProfileSlot, for client: ClientID?) throws(BrokerError) {
    let uptime = now.uptime
    let subject = subject(account, on: slot, for: client)
    if account != nil, let refusal = limiter.guesses.refusal(of: subject, at: uptime) {
      throw error(refusal, slot.name)
    }
    if account != nil, let refusal = limiter.refusal(of: .sentCode, subject, at: uptime) {
      throw error(refusal, slot.name)
    }
    if let refusal = limiter.admit(.login, subject, at: uptime) { throw error(refusal, slot.name) }
  }

  /// Counts a code that a login, or its trial, has had sent; a code that an app computes costs nothing.
  ///
  /// - Parameters:
  ///   - method: how the code was sent.
  ///   - client: who has begun it.
  ///   - account: whose login it is, as the client named it.
  ///   - slot: the profile.
  func noteSentCode(
    _ method: OTPChallenge.Method, for client: ClientID?, to account: String?, on slot: ProfileSlot
  ) {
    guard method != .totp else { return }
    counts.otpSent += 1
    limiter.note(.sentCode, subject(account, on: slot, for: client), at: now.uptime)
  }

  /// Takes a token for a code of a trial; see ``countGuess(_:on:)``.
  ///
  /// - Throws: `rateLimited` and `tooManyAttempts`, with the time to wait.
  func admit(
    _ answer: TrialCodeAnswer, ofTrialOn profile: ProfileName, for client: ClientID?
  ) throws(BrokerError) {
    guard let slot = slot(named: profile) else { return }
    if case .another = answer { return try admit(.message, nil, on: slot, for: client) }
    try admit(.code, nil, on: slot, for: client)
    let subject = subject(Self.account(of: slot), on: slot, for: client)
    if let refusal = limiter.guess(subject, at: now.uptime) { throw error(refusal, slot.name) }
  }

  /// Counts a code that is about to be checked.
  ///
  /// - Throws: `tooManyAttempts` with the time to wait.
  func countGuess(_ login: PendingLogin, on slot: ProfileSlot) throws(BrokerError) {
    if let refusal = limiter.guess(guesser(login, on: slot), at: now.uptime) { throw error(refusal, slot.name) }
  }

  /// Takes in that a code was right, or was certainly not examined.
  func refundGuess(_ login: PendingLogin, on slot: ProfileSlot) {
    limiter.refundGuess(guesser(login, on: slot))
  }

  /// The wait after the last wrong code of a login, by the rest of the day's guesses.
  func restOfDay(_ login: PendingLogin, on slot: ProfileSlot) -> Duration? {
    limiter.guesses.refusal(of: guesser(login, on: slot), at: now.uptime)?.wait
  }

  /// Whether a code was guessed wrong within a day: a broker that ended now would forget that.
  var remembersGuesses: Bool { limiter.guesses.isAnyYoung(at: now.uptime) }

  /// The subject whose guesses a code counts among; after a restart only the profile is known.
  private func guesser(_ login: PendingLogin, on slot: ProfileSlot) -> CallLimiter.Subject {
    subject(login.account ?? Self.account(of: slot), on: slot, for: nil)
  }

  private func subject(_ account: String?, on slot: ProfileSlot, for client: ClientID?) -> CallLimiter.Subject {
    CallLimiter.Subject(
      client: client, provider: slot.provider.binding, account: account.map { CallLimiter.account($0) })
  }

  /// The stand-in for the user of a profile where no account is named; no e-mail address begins so.
  private static func account(of slot: ProfileSlot) -> String { "profile:\(slot.name)" }

  /// Counts a refusal, and makes the error that a client gets.
  private func error(_ refusal: CallLimiter.Refusal, _ profile: ProfileName) -> BrokerError {
    var error = ledger.refuse(refusal.limit, for: refusal.wait, of: profile)
    error.message += " The provider was not asked."
    return error
  }
}
