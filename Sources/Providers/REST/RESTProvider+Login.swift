package import BrokerCore
import BrokerProtocol
import LinuxSystem
import SecretMemory

/// Accounts and passwords.
extension RESTProvider: RegistrationProvider {
  /// Begins a login.
  ///
  /// - Throws: `.refused` with `missingCredential` and the fields; what the backend refuses: `invalidCredentials`,
  ///   `accountLocked`, `captchaRequired`, `emailUnverified`, `rateLimited` and others; `.transient` and
  ///   `.outcomeUnknown` for what went wrong on the way.
  package func login(_ credentials: Credentials) async throws(ProviderFailure) -> LoginOutcome {
    var values: [(RESTEndpoint.Field, RequestFields.Value)] = []
    if let email = credentials.email { values.append((.email, .text(email))) }
    if let password = credentials.password { values.append((.password, .secret(password))) }
    if let phone = credentials.phoneNumber { values.append((.phoneNumber, .text(phone))) }
    if !credentials.scopes.isEmpty { values.append((.scope, .text(credentials.scopes.joined(separator: " ")))) }
    let missing = missing(credentials)
    guard missing.isEmpty else { throw .refused(.missingCredential, fields: missing) }
    let reply = try await publicCaller.ask(.login, values)
    return try await outcome(reply, credentials)
  }

  /// The field that names the account: the phone number where the mapping sends it and no e-mail address.
  var accountField: RESTEndpoint.Field {
    let sent = mapping.endpoints[.login]?.fields ?? [:]
    return sent[.email] == nil && sent[.phoneNumber] != nil ? .phoneNumber : .email
  }

  /// A password and the account that it belongs to.
  private func missing(_ credentials: Credentials) -> [String] {
    let email = accountField == .email ? credentials.email : nil
    var missing: [String] = []
    if email?.isEmpty ?? true, credentials.phoneNumber?.isEmpty ?? true { missing.append(accountField.rawValue) }
    if (credentials.password?.byteCount ?? 0) == 0 { missing.append(RESTEndpoint.Field.password.rawValue) }
    return missing
  }

  /// Makes an account; where the backend gives no tokens for that and wants no verification first, logs in with it.
  ///
  /// - Throws: as ``login(_:)``, and `.refused` with `emailTaken` or `validationFailed` and the fields.
  package func register(_ registration: Registration) async throws(ProviderFailure) -> LoginOutcome {
    var values: [(RESTEndpoint.Field, RequestFields.Value)] = [
      (.email, .text(registration.email)), (.password, .secret(registration.password)),
    ]
    if let name = registration.name { values.append((.name, .text(name))) }
    if let phone = registration.phoneNumber { values.append((.phoneNumber, .text(phone))) }
    let credentials = Credentials(email: registration.email, password: registration.password)
    let reply = try await publicCaller.ask(.register, values)
    let isLoggedIn =
      reply.isEmpty
      ? false
      : try await reply.read { reader in
        reader.mentionsAccessToken || reader.asksForCode || reader.waitsForVerification
      }
    if isLoggedIn { return try await outcome(reply, credentials) }
    try reply.expectSuccess()
    do throws(ProviderFailure) {
      return try await login(credentials)
    } catch .refused(.emailUnverified, _, _, _) {
      return .emailVerificationRequired
    }
  }

  /// The outcome of a login: tokens, a challenge, or an address that is to be verified.
  func outcome(_ reply: BackendReply, _ credentials: Credentials) async throws(ProviderFailure) -> LoginOutcome {
    let allowsBackupCodes = mapping.endpoints[.verifyBackupCode] != nil
    let outcome = try await read(reply) { reader throws(SecretMemoryExhausted) -> LoginOutcome? in
      if reader.asksForCode {
        return try reader.challenge(allowsBackupCodes: allowsBackupCodes).map { .otpRequired($0) }
      }
      if !reader.mentionsAccessToken, reader.waitsForVerification { return .emailVerificationRequired }
      return try session(reader).map { .authenticated($0) }
    }
    if case .otpRequired(let challenge) = outcome { remember(challenge, credentials) }
    return outcome
  }

  /// The session of a reply; nil where there are no usable tokens.
  ///
  /// - Throws: `SecretMemoryExhausted` where there is no room for them.
  func session(_ reader: ReplyReader) throws(SecretMemoryExhausted) -> ProviderSession? {
    guard var tokens = try reader.tokens() else { return nil }
    // What cannot be exchanged need not be kept.
    if mapping.endpoints[.refresh] == nil { tokens.refreshToken = nil }
    return ProviderSession(
      tokens: tokens, user: reader.user(orRoot: false),
      backupCodesRemaining: reader.count(.backupCodesRemaining, in: 0...1000))
  }

  /// Keeps the parts of a challenge that are needed later; credentials only where they are sent again, and no longer
  /// than it lives.
  func remember(_ challenge: ProviderChallenge, _ credentials: Credentials?) {
    let isKept = mapping.resendStrategy == .restartLogin && credentials != nil
    let now = clock()
    challenges.remember(challenge, isKept ? credentials : nil, at: now)
    guard isKept else { return }
    let rest = max(challenge.expiresAt - now, .zero)
    TaskThread.shared.schedule(after: rest) { [challenges, clock] in challenges.forgetEnded(at: clock()) }
  }
}

extension ReplyReader {
  /// Whether the account exists, but its address must be verified first.
  var waitsForVerification: Bool { flag(.emailVerificationRequired) == true }
}
