package import BrokerCore
import BrokerProtocol
package import SecretMemory

/// Accounts and passwords.
extension FirebaseProvider: RegistrationProvider, ChallengeProvider {
  /// Begins a session.
  ///
  /// - Throws: `.refused` with `missingCredential` and the fields; what the service refuses: `invalidCredentials`,
  ///   `accountLocked`, `tooManyAttempts`, `providerRejected` for the project or its key; `captchaRequired` where the
  ///   account has no second factor but one by SMS; `.transient` and `.outcomeUnknown` for what went wrong on the way.
  package func login(_ credentials: Credentials) async throws(ProviderFailure) -> LoginOutcome {
    switch credentials.method {
    case .password: break
    case .refreshToken: return try await takeOver(credentials.refreshToken)
    case .deviceCode, .browser, .clientCredentials: throw .unsupported
    }
    var missing: [String] = []
    if credentials.email?.isEmpty ?? true { missing.append("email") }
    if (credentials.password?.byteCount ?? 0) == 0 { missing.append("password") }
    guard missing.isEmpty, let email = credentials.email, let password = credentials.password else {
      throw .refused(.missingCredential, fields: missing)
    }
    return try await outcome(try await signIn(email, password))
  }

  /// Makes an account and has its address verified; the session exists before the user has done that.
  ///
  /// - Throws: as ``login(_:)``, and `.refused` with `emailTaken`, or `validationFailed` and the fields.
  package func register(_ registration: Registration) async throws(ProviderFailure) -> LoginOutcome {
    var fields: [(String, FirebaseFields.Value)] = [
      ("email", .text(registration.email)), ("password", .secret(registration.password)),
      ("returnSecureToken", .flag(true)),
    ]
    if let name = registration.name { fields.append(("displayName", .text(name))) }
    let outcome = try await outcome(try await caller.ask(.signUp, fields))
    if case .authenticated(let session) = outcome { await askForVerification(session.tokens.accessToken.value) }
    return outcome
  }

  /// Answers a second factor with the code of the user's app.
  ///
  /// - Throws: `.refused` with `otpInvalid` or `flowNotFound`; and as ``login(_:)``.
  package func verifyOTP(flow: Secret, code: Secret) async throws(ProviderFailure) -> ProviderSession {
    let known: PendingSecondFactor?
    do throws(SecretMemoryExhausted) { known = try PendingSecondFactor(flow) } catch { throw .transient(.overloaded) }
    guard let login = known else { throw .refused(.flowNotFound) }
    let reply = try await caller.ask(
      .finishSecondFactor,
      [
        ("mfaPendingCredential", .secret(login.credential)), ("mfaEnrollmentId", .text(login.factor)),
        ("totpVerificationInfo", .object([("verificationCode", .secret(code))])),
      ])
    return try await reply.read { reader throws(SecretMemoryExhausted) in
      try reader.tokens().map { ProviderSession(tokens: $0, user: reader.signedInUser()) }
    }
  }

  /// One login with a password.
  func signIn(_ email: String, _ password: Secret) async throws(ProviderFailure) -> FirebaseReply {
    try await caller.ask(
      .signInWithPassword,
      [("email", .text(email)), ("password", .secret(password)), ("returnSecureToken", .flag(true))])
  }

  private func takeOver(_ refreshToken: Secret?) async throws(ProviderFailure) -> LoginOutcome {
    guard let refreshToken, refreshToken.byteCount > 0 else {
      throw .refused(.missingCredential, fields: ["refreshToken"])
    }
    do throws(ProviderFailure) {
      var tokens = try await refresh(BoundToken(refreshToken))
      let user = tokens.subject.map { User(id: $0) }
      tokens.subject = nil
      return .authenticated(ProviderSession(tokens: tokens, user: user))
    } catch .sessionEnded {
      throw .refused(.invalidCredentials)
    }
  }

  /// The outcome of a login: tokens, or a second factor that is wanted.
  private func outcome(_ reply: FirebaseReply) async throws(ProviderFailure) -> LoginOutcome {
    let now = clock()
    let outcome = try await reply.read { reader throws(SecretMemoryExhausted) -> LoginOutcome?? in
      if let (credential, factors) = try reader.secondFactors() {
        guard let factor = factors.first(where: { $0.kind == .totp }) else { return .some(nil) }
        let login = PendingSecondFactor(credential: credential, factor: factor.id)
        return .some(.otpRequired(try login.challenge(at: now)))
      }
      return try reader.tokens().map {
        .some(.authenticated(ProviderSession(tokens: $0, user: reader.signedInUser())))
      }
    }
    // A code by SMS is only sent to a browser that has proved itself (reCAPTCHA), which a broker cannot.
    guard let outcome else { throw .refused(.captchaRequired) }
    return outcome
  }

  /// Has a mail sent to a new account's address; that this fails is no reason to have no account.
  private func askForVerification(_ idToken: Secret) async {
    do throws(ProviderFailure) {
      let fields: [(String, FirebaseFields.Value)] = [
        ("requestType", .text("VERIFY_EMAIL")), ("idToken", .secret(idToken)),
      ]
      try await caller.ask(.sendOobCode, fields).expectSuccess()
    } catch {}
  }
}
