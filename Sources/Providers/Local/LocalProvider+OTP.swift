package import BrokerCore
import BrokerProtocol
import LinuxSystem
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
    let maxAttempts = configuration.otp.maxAttempts
    return try respond(to: "verifyOTP") { database, now in
      let flow = try openFlow(handle, database, at: now)
      guard Self.isCode(code, digits: flow.codeLength) else {
        throw ProviderFailure.refused(.otpInvalid, attemptsRemaining: max(0, maxAttempts - flow.attempts))
      }
      guard flow.attempts < maxAttempts, let account = try database.accounts.find(id: flow.account) else {
        try end(flow, database)
        throw ProviderFailure.refused(.tooManyAttempts, retryAfter: flow.resendAt - now)
      }
      try database.flows.countAttempt(flow.handle)
      guard database.fingerprint.matches(flow.code, code, .code, context: flow.handle) else {
        try refuse(flow, account, attemptsRemaining: maxAttempts - flow.attempts - 1, database, at: now)
      }
      let session = try redeem(flow, account, database, at: now)
      removeMessages(of: account.id, database)
      return session
    }
  }

  /// Uses a right code up and begins the session, or does neither.
  ///
  /// - Throws: `.outcomeUnknown(.providerUnavailable)` where the commit has reported an error and the login is gone all the
  ///   same: the code is used up then; what the database says.
  private func redeem(
    _ flow: OTPFlow, _ account: Account, _ database: LocalDatabase, at now: Timestamp
  ) throws -> ProviderSession {
    do {
      return try database.connection.transaction {
        try database.flows.remove(flow.handle)
        return try beginSession(account, scopes: flow.scopes, database, at: now)
      }
    } catch {
      guard try database.flows.find(flow.handle) != nil else {
        throw ProviderFailure.outcomeUnknown(.providerUnavailable)
      }
      throw error
    }
  }

  /// Sends another code in place of the last one.
  ///
  /// The wrong attempts of the login stay counted.
  ///
  /// - Throws: `.refused` with `flowNotFound`, `otpExpired`, `resendTooSoon` with the time to wait, or
  ///   `tooManyAttempts` where the login has caused as many messages as it may; `.transient(.providerUnavailable)`.
  package func resendOTP(flow handle: Secret) throws(ProviderFailure) -> ProviderChallenge {
    try respond(to: "resendOTP") { database, now in
      var flow = try openFlow(handle, database, at: now)
      guard flow.sends < Self.maxSends else {
        throw ProviderFailure.refused(.tooManyAttempts, retryAfter: flow.expiresAt - now)
      }
      guard flow.resendAt <= now else {
        throw ProviderFailure.refused(.resendTooSoon, retryAfter: flow.resendAt - now)
      }
      guard let account = try database.accounts.find(id: flow.account), let phone = account.phone else {
        throw ProviderFailure.refused(.flowNotFound)
      }
      flow.sends += 1
      return try send(&flow, handle: handle, to: phone, database, at: now)
    }
  }

  /// Begins the one flow that an account can have; the one before it is void.
  func beginFlow(
    _ account: Account, _ phone: PhoneNumber, scopes: String, _ database: LocalDatabase, at now: Timestamp
  ) throws -> ProviderChallenge {
    let handle = try RandomBytes.secret(count: 32)
    var flow = OTPFlow(
      handle: database.fingerprint.of(handle, .handle), account: account.id, scopes: scopes, code: [], codeLength: 0,
      expiresAt: now, resendAt: now)
    return try send(&flow, handle: handle, to: phone, database, at: now)
  }

  /// Gives a flow a new code, durably, and only then writes the message.
  private func send(
    _ flow: inout OTPFlow, handle: Secret, to phone: PhoneNumber, _ database: LocalDatabase, at now: Timestamp
  ) throws -> ProviderChallenge {
    let rules = configuration.otp
    let code = try Self.randomCode(digits: rules.length)
    flow.code = database.fingerprint.of(code, .code, context: flow.handle)
    flow.codeLength = rules.length
    flow.expiresAt = now + rules.lifetime
    flow.resendAt = now + rules.resendCooldown
    let replaced = try database.messages.numbers(account: flow.account)
    let number = try database.connection.transaction { [flow] in
      try database.flows.save(flow)
      return try database.messages.insert(account: flow.account, expiresAt: flow.expiresAt)
    }
    try database.removeMessages(replaced)
    let message = Outbox.Message(recipient: phone.text, method: .sms, code: code, createdAt: now)
    removeMessagesAtExpiry()
    try database.files.outbox.write(message, number: number)
    return ProviderChallenge(
      flow: handle, method: .sms, maskedDestination: phone.masked, otpLength: flow.codeLength,
      expiresAt: flow.expiresAt, nextResendAt: flow.resendAt,
      attemptsRemaining: max(0, rules.maxAttempts - flow.attempts))
  }

  /// The flow of a handle, unless it has ended.
  private func openFlow(_ handle: Secret, _ database: LocalDatabase, at now: Timestamp) throws -> OTPFlow {
    guard let flow = try database.flows.find(database.fingerprint.of(handle, .handle)) else {
      throw ProviderFailure.refused(.flowNotFound)
    }
    guard now < flow.expiresAt else {
      removeMessages(of: flow.account, database)
      throw ProviderFailure.refused(.otpExpired)
    }
    return flow
  }

  /// Counts a wrong code against its account, and ends the flow with the last one.
  private func refuse(
    _ flow: OTPFlow, _ account: Account, attemptsRemaining: Int, _ database: LocalDatabase, at now: Timestamp
  ) throws -> Never {
    let address = database.throttleKey(account.email)
    try database.throttle.recordFailure(address, at: now)
    guard attemptsRemaining <= 0 else {
      throw ProviderFailure.refused(.otpInvalid, attemptsRemaining: attemptsRemaining)
    }
    try end(flow, database)
    throw ProviderFailure.refused(.tooManyAttempts, retryAfter: try database.throttle.wait(address, at: now))
  }

  private func end(_ flow: OTPFlow, _ database: LocalDatabase) throws {
    try database.flows.remove(flow.handle)
    removeMessages(of: flow.account, database)
  }

  /// Removes each message when its code expires, also where no call comes.
  func removeMessagesAtExpiry() {
    guard !isSweeping else { return }
    isSweeping = true
    sweep()
  }

  private func sweep() {
    guard isSweeping else { return }
    guard let rest = removeExpiredMessages() else {
      isSweeping = false
      return
    }
    // Without a thread the next call of the provider begins again.
    isSweeping = worker.schedule(after: rest) { [weak self] in self?.assumeIsolated { $0.sweep() } }
  }

  /// Removes messages whose code is worthless by now: a failure changes no answer, and is made up for when they expire.
  private func removeMessages(of account: String, _ database: LocalDatabase) {
    guard let numbers = try? database.messages.numbers(account: account) else { return }
    try? database.removeMessages(numbers)
  }

  /// Each digit drawn by itself without bias: the same as a number below 10ⁿ with zeros in front.
  private static func randomCode(digits: Int) throws(SecretMemoryExhausted) -> Secret {
    try Secret(byteCount: digits) { bytes in
      for index in bytes.indices {
        bytes[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: RandomBytes.uniform(upperBound: 10))
      }
    }
  }

  private static func isCode(_ code: Secret, digits: Int) -> Bool {
    code.byteCount == digits
      && code.withBytes { bytes in
        bytes.indices.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[$0]) }
      }
  }
}
