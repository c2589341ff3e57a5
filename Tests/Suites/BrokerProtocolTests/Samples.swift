import BrokerProtocol
import SecretMemory

/// Values with every member set, and with none that can be left out.
enum Samples {
  static let time = Timestamp(milliseconds: 1_772_355_600_123)
  static let user = User(
    id: "u\"1", email: "a@b.example", emailVerified: false, name: "Äda\n", phoneNumberMasked: "•• 42",
    twoFactor: "to\"tp")
  static let challenge = OTPChallenge(
    otpFlowID: "flow", profile: .default, method: .totp, maskedDestination: "a•••@b", otpLength: 6, expiresAt: time,
    nextResendAt: time + .seconds(30), attemptsRemaining: 5, backupCodesAllowed: true,
    channels: [.sms, .email], clientContext: "c\"1")

  static let action = UserAction(
    loginFlowID: "flow", profile: .default, kind: .deviceCode, verificationURI: "https://a.example/\"d",
    verificationURIComplete: "https://a.example/d?c=A-B", userCode: "A-B", expiresAt: time,
    interval: .milliseconds(5500), clientContext: "c\n2")
  static let browserAction = UserAction(
    loginFlowID: "flow", profile: .default, kind: .browser, verificationURI: "https://a.example", expiresAt: time)
  static let reminder: UserAction = {
    var action = browserAction
    action.reminder = true
    return action
  }()

  static let changes = ProfileChanges([
    .init(name: "name", value: RawJSON(text: Array(#""Ad\"a""#.utf8))),
    .init(name: "phoneNumber", value: RawJSON(text: Array("null".utf8))),
    .init(name: "newsletter", value: RawJSON(text: Array("true".utf8))),
  ])

  static let fullSession: Session = {
    var session = Session(profile: .default, provider: "local", state: .offline)
    session.issuer = "https://as.example.com"
    session.clientID = "made-1"
    session.userID = "u1"
    session.user = user
    session.scopes = ["a", "b c"]
    session.accessTokenExpiresAt = time
    session.refreshTokenPresent = true
    session.refreshTokenExpiresAt = time + .seconds(1)
    session.authTime = time + .seconds(2)
    session.lastRefreshAt = time + .seconds(3)
    session.lastValidatedAt = time + .seconds(4)
    session.idleExpiresAt = time + .seconds(5)
    session.loginRequiredReason = "refreshRejected"
    session.loginRequiredMessage = "It ended.\n"
    session.storeDegraded = true
    session.providerClockSkew = .seconds(-90)
    return session
  }()

  static let sessions: [Session] =
    [fullSession] + Session.State.allCases.map { Session(profile: .default, provider: "x", state: $0) }

  static let fullError: BrokerError = {
    var error = BrokerError(.otpInvalid, "Ünknown \"code\".", profile: .default)
    error.nextAction = .wait
    error.isRetryable = true
    error.retryAfter = .milliseconds(1500)
    error.pointer = "/a~1b"
    error.rule = "profiles.a.requests.allow[0]"
    error.attemptsRemaining = 0
    error.fields = ["email", "password"]
    error.challenge = challenge
    error.action = action
    error.scopes = ["read", "write"]
    error.acrValues = ["urn:acr:mfa"]
    error.maxAge = 0
    error.proof = StateProof(path: "/state/proof-0f")
    error.correlationID = "c-1"
    return error
  }()

  static let consent: ConsentQuestion = {
    let processes = [
      ConsentProcess(pid: 2, startedAt: time, command: "g\"it", executable: "/usr/bin/git"),
      ConsentProcess(pid: 1, startedAt: time),
    ]
    let client = ConsentClientState(
      ClientIdentity(socket: "ci", uid: 1000, unit: "user/a.scope", label: "snap.a", tool: "t\n"), chain: processes)
    var question = ConsentQuestion(
      consentID: "c1", profile: .default, method: "getAccessToken", scopes: ["a"], audience: "urn:a", client: client,
      confirm: "once", forwarded: true, grants: ConsentGrant(subject: "unit", pid: 1, unit: "u", socket: "s"),
      requests: 2, expiresAt: time)
    question.abridged = true
    return question
  }()

  static let payloads: [EventPayload] =
    [
      .requestCompleted(RequestCompletedEvent(requestID: "r1", status: 201)),
      .requestFailed(RequestFailedEvent(requestID: "r1", kind: .outcomeUnknown)),
      .queuePaused(QueuePausedEvent(requestID: "r1", reason: .otherUser)),
      .consentRequested(consent),
      .consentRequested(
        ConsentQuestion(
          consentID: "c1", profile: .default, method: "getIdToken", client: ConsentClientState(.blank),
          confirm: "always",
          grants: ConsentGrant(subject: "process", remember: .seconds(600)), expiresAt: time)),
      .login(LoginEvent(method: "password")),
      .login(LoginEvent(userID: "u1", method: "password", clientContext: "c\"1")),
      .sessionEnding(SessionEndingEvent(endsAt: time)), .loginPending(reminder),
      .tokenRefreshed(TokenRefreshedEvent(tokenID: "t")),
      .tokenRefreshed(TokenRefreshedEvent(tokenID: "t", expiresAt: time)),
      .refreshFailed(RefreshFailedEvent(kind: "timeout", retryable: true, nextAttemptAt: time)),
      .refreshFailed(RefreshFailedEvent(kind: "timeout", retryable: false)),
      .userUpdated(UserUpdatedEvent(userID: "u1")),
      .otpChallenge(challenge), .otpResent(challenge), .loginPending(action), .loginPending(browserAction),
      .loginFailed(LoginFailedEvent(kind: "invalidCredentials")),
      .loginFailed(LoginFailedEvent(kind: "otpExpired", clientContext: "")),
      .backupCodeUsed(BackupCodeUsedEvent()), .backupCodeUsed(BackupCodeUsedEvent(remaining: 0)),
      .unauthorized(RefusalEvent(status: 401)), .forbidden(RefusalEvent(status: 403)), .networkDown, .networkUp,
      .vaultLocked, .vaultUnlocked,
      .configReloaded, .shuttingDown, .eventsLost(EventsLostEvent(from: 1, to: Int.max)),
    ]
    + LogoutEvent.Reason.allCases.map { .logout(LogoutEvent(reason: $0)) }
    + SessionExpiredEvent.Reason.allCases.map { .sessionExpired(SessionExpiredEvent(reason: $0)) }
    + SecurityAlertEvent.Kind.allCases.map { .securityAlert(SecurityAlertEvent(kind: $0)) }

  static let findings: [VaultFinding] = VaultFinding.Kind.allCases.flatMap { kind in
    [VaultFinding(kind, isError: true, "Ü."), VaultFinding(kind, isError: false, "", profile: .default)]
  }

  static let loginForms = LoginMethod.allCases.map { LoginForm($0) }

  static let deliveries: [GetStatus.Delivery] = [
    .init(channel: "sms", sent: 1, failed: 0, underWay: 2),
    .init(
      channel: "smtp", sent: 0, failed: 1, underWay: 0, lastFailure: "mail.example:587: \"no\"", lastFailureAt: time),
  ]

  static func enrolment() throws -> FactorEnrolment {
    FactorEnrolment(otpFlowID: "flow", otpauthURI: try secret("otpauth://totp/a?secret=A"), expiresAt: time)
  }

  static let reports: [ProviderReport] = {
    let here = ProviderReport(profile: .default, provider: "local", isReachable: true, message: "")
    var answering = ProviderReport(profile: .default, provider: "rest", isReachable: true, message: "Ü.")
    answering.host = "[::1]:8080"
    answering.usesTLS = false
    answering.status = 401
    answering.roundTrip = .milliseconds(12)
    var failing = ProviderReport(profile: .default, provider: "rest", isReachable: false, message: "Ü.")
    failing.errorKind = .tlsPinMismatch
    return [here, failing]
      + [0, -31, 31, -315_537_897_599, 315_537_897_599].map { seconds in
        answering.clockSkew = .seconds(seconds)
        return answering
      }
  }()

  static let providerFindings: [ProviderFinding] =
    ProviderFinding.Level.allCases.map { ProviderFinding("issuer", $0, "Ü.") }
    + [ProviderFinding("login", .failure, "", advice: "a\"b", errorKind: .invalidCredentials)]

  static let trialStates: [ProviderTrialState] = [
    .init(trialID: "t", findings: [], step: .provider), .init(trialID: "t", findings: [], step: .code(challenge)),
    .init(trialID: "t", findings: [], step: .user(action)),
    .init(trialID: "t", findings: providerFindings, step: .none),
  ]

  static let localUsers: [LocalUser] =
    [
      LocalUser(
        id: "u\"1", email: "a@b.example", emailVerified: true, name: "Äda\n", phoneNumberMasked: "•• 42",
        twoFactor: .sms,
        isDisabled: true, createdAt: time, sessionCount: 3)
    ]
    + LocalUser.SecondFactor.allCases.map {
      LocalUser(
        id: "u", email: "a@b", emailVerified: false, twoFactor: $0, isDisabled: false, createdAt: time, sessionCount: 0)
    }

  static let localSession = LocalSession(
    id: "s", user: "u", scopes: ["a", "b"], createdAt: time, lastUsedAt: time + .seconds(1),
    expiresAt: time + .seconds(2), methods: ["pwd", "otp"])

  static let introspection: TokenIntrospection = {
    var introspection = TokenIntrospection(isActive: true)
    introspection.scope = "a b"
    introspection.issuer = "i"
    introspection.audience = "a"
    introspection.subject = "u"
    introspection.expiresAt = 1_772_356_500
    introspection.issuedAt = 1_772_355_600
    introspection.tokenID = "t"
    introspection.session = "s"
    introspection.authTime = 1_772_355_600
    introspection.methods = ["pwd"]
    return introspection
  }()

  static let auditRecords = [
    LocalAuditRecord(number: 1, time: time, event: "login", user: "u", detail: "p\"wd"),
    LocalAuditRecord(number: 2, time: time, event: "keysRenewed"),
  ]

  static func localMessages() throws -> [LocalMessage] {
    let (body, code) = (try secret("Your code is 1.\nÜ"), try secret("1"))
    let sent = OTPChallenge.Method.allCases.map { method in
      LocalMessage(
        number: 1, recipient: "+491\"2", method: method, subject: "S", body: body, code: code, token: code,
        createdAt: time, expiresAt: time + .seconds(300))
    }
    let bare = LocalMessage(
      number: 2, recipient: "", method: .email, subject: "", body: body, createdAt: time, expiresAt: time)
    return sent + [bare]
  }

  static func secret(_ text: String) throws -> Secret { try Secret(copying: Array(text.utf8).span) }
}
