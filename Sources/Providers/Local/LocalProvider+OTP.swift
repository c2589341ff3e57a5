package import BrokerCore
package import BrokerProtocol
import SQLite
import Sealing
package import SecretMemory

/// One-time codes.
extension LocalProvider: ChallengeProvider, CodeResendingProvider {
  /// Messages that one login may cause; who has not got one by then has another trouble.
  private static let maxSends = 5

  /// Compares a code, and begins the session.
  ///
  /// Input that cannot be a code (other than the flow's number of ASCII digits) is refused without being counted:
  /// it is no guess. Every other attempt is counted, durably, before it is compared.
  ///
  /// - Throws: `.refused` with `flowNotFound`; `otpExpired`; `otpInvalid` with the attempts that remain;
  ///   `tooManyAttempts` for the last wrong code, which ends the flow. `.transient(.providerUnavailable)`.
  package func verifyOTP(flow handle: Secret, code: Secret) throws(ProviderFailure) -> ProviderSession {
    try respond(to: "verifyOTP") { database, now in
      let flow = try openFlow(handle, database, at: now)
      guard Self.isCode(code, digits: flow.codeLength) else {
        throw ProviderFailure.refused(.otpInvalid, attemptsRemaining: attemptsRemaining(in: flow))
      }
      let account = try countGuess(in: flow, database, at: now)
      guard let accepted = try accept(code, in: flow, database, at: now) else {
        try refuse(flow, account, .otpInvalid, database, at: now)
      }
      return try redeem(accepted, flow, account, database, at: now)
    }
  }

  /// Sends another code in place of the last one, and waits for the first try to do so.
  ///
  /// Another channel ends the code that was sent before. The wrong attempts of the login stay counted. Where the first try has failed the login goes on: with the code, if a
  /// later try brings it, with another one, or with a backup code.
  ///
  /// - Throws: `.refused` with `flowNotFound`, `otpExpired`, `resendTooSoon` with the time to wait, or
  ///   `rateLimited` where the login has caused as many messages as it may, or its account or address was sent too many;
  ///   `.unsupported` where an authenticator app makes the codes, or the channel is none of the challenge's; `.transient(.providerUnavailable)`, also where the code
  ///   cannot be delivered, with the time after which another one may be asked for.
  package func resendOTP(
    flow handle: Secret, by channel: OTPChallenge.Method?
  ) async throws(ProviderFailure) -> ProviderChallenge {
    let (challenge, dispatch) = try respond(to: "resendOTP") { database, now in
      var flow = try openFlow(handle, database, at: now)
      guard flow.method != .totp else { throw ProviderFailure.unsupported }
      guard flow.sends < Self.maxSends else {
        throw ProviderFailure.refused(.rateLimited, retryAfter: flow.expiresAt - now)
      }
      guard flow.resendAt <= now else {
        throw ProviderFailure.refused(.resendTooSoon, retryAfter: flow.resendAt - now)
      }
      guard let account = try database.accounts.find(id: flow.account) else {
        throw ProviderFailure.refused(.flowNotFound)
      }
      if let channel, channel != flow.method {
        guard channels(of: flow, account).contains(channel) else { throw ProviderFailure.unsupported }
        flow.method = channel
      }
      flow.sends += 1
      let dispatch = try renewCode(of: &flow, account, database, at: now)
      return (try describe(flow, handle, account, database), dispatch)
    }
    guard await deliver(dispatch) == nil else {
      throw .transient(.providerUnavailable, retryAfter: configuration.otp.resendCooldown)
    }
    return challenge
  }

  /// Begins the one flow that an account with a second factor can have; the one before it is void.
  ///
  /// - Parameters:
  ///   - account: who logs in.
  ///   - method: how the code reaches the user.
  ///   - scopes: what the session shall be good for.
  ///   - database: the provider's tables.
  ///   - now: when it begins.
  /// - Returns: the challenge, and the message with its code, where a channel is still to be given it.
  /// - Throws: `ProviderFailure.refused` with `rateLimited` and the time to wait, where the account was sent as much as
  ///   it may be; what the database, the memory and the outbox say.
  func beginFlow(
    _ account: Account, by method: OTPChallenge.Method, scopes: String, _ database: LocalDatabase, at now: Timestamp
  ) throws -> (ProviderChallenge, Dispatch?) {
    let handle = try RandomBytes.secret(count: 32)
    var flow = OTPFlow(
      handle: database.fingerprint.of(handle, .handle), account: account.id, scopes: scopes, method: method,
      expiresAt: now + configuration.otp.lifetime, resendAt: now + configuration.otp.lifetime)
    var dispatch: Dispatch?
    if method == .totp {
      flow.codeLength = TOTP.standardDigits
      try database.flows.save(flow)
      removeMessages(of: account.id, .login, database)
    } else {
      dispatch = try renewCode(of: &flow, account, database, at: now)
    }
    return (try describe(flow, handle, account, database), dispatch)
  }

  /// Gives a flow a new code, durably, and only then sends it.
  ///
  /// - Returns: the message, where a channel is still to be given it.
  private func renewCode(
    of flow: inout OTPFlow, _ account: Account, _ database: LocalDatabase, at now: Timestamp
  ) throws -> Dispatch? {
    try requireRoom(for: .login, to: account, by: flow.method, database, at: now)
    let rules = configuration.otp
    let code = try Self.randomCode(digits: rules.length)
    flow.code = database.fingerprint.of(code, .code, context: flow.handle)
    flow.codeLength = rules.length
    flow.expiresAt = now + rules.lifetime
    flow.resendAt = now + rules.resendCooldown
    let numbered = try database.connection.transaction { [flow] in
      try database.flows.save(flow)
      try database.audit.append(.codeSent, account: account.id, detail: flow.method.rawValue, at: now)
      return try number(
        .loginCode(code, lifetime: rules.lifetime), to: account, by: flow.method, purpose: .login,
        expiresAt: flow.expiresAt, database, at: now)
    }
    return try release(numbered, database)
  }

  private func describe(
    _ flow: OTPFlow, _ handle: Secret, _ account: Account, _ database: LocalDatabase
  ) throws -> ProviderChallenge {
    ProviderChallenge(
      flow: handle, method: flow.method, maskedDestination: account.destination(flow.method)?.masked ?? "",
      otpLength: flow.codeLength, expiresAt: flow.expiresAt, nextResendAt: flow.resendAt,
      attemptsRemaining: attemptsRemaining(in: flow),
      backupCodesAllowed: try database.backupCodes.unusedCount(of: account.id) > 0,
      channels: channels(of: flow, account))
  }

  /// The ways by which a login's code can go, where there are two: both are proven, or the code would be the proof of one.
  private func channels(of flow: OTPFlow, _ account: Account) -> [OTPChallenge.Method] {
    let proven = [OTPChallenge.Method.sms, .email].filter { account.destination($0)?.isVerified ?? false }
    return configuration.otp.offersOtherChannel && proven.count > 1 && proven.contains(flow.method) ? proven : []
  }

  /// Checks a code, without using it up; nil for a wrong one.
  private func accept(
    _ code: Secret, in flow: OTPFlow, _ database: LocalDatabase, at now: Timestamp
  ) throws -> AcceptedCode? {
    switch flow.method {
    case .sms, .email:
      return database.fingerprint.matches(flow.code, code, .code, context: flow.handle) ? .sent(flow.method) : nil
    case .totp:
      guard let app = try database.totp.find(account: flow.account) else { return nil }
      return try app.totp.acceptedStep(of: code, at: now, after: app.lastStep).map { .app(step: $0) }
    }
  }

  /// Each digit drawn by itself without bias: the same as a number below 10ⁿ with zeros in front.
  static func randomCode(digits: Int) throws(SecretMemoryExhausted) -> Secret {
    try Secret(byteCount: digits) { bytes in
      for index in bytes.indices {
        bytes[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: RandomBytes.uniform(upperBound: 10))
      }
    }
  }

  /// Whether a text has so many characters, all of them ASCII digits.
  static func isCode(_ code: Secret, digits: Int) -> Bool {
    code.byteCount == digits
      && code.withBytes { bytes in
        bytes.indices.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[$0]) }
      }
  }
}
