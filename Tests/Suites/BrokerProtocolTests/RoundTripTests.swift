import BrokerProtocol
import JSON
import SecretMemory
import TestSupport
import Testing

/// What is written reads as the same value.
@Suite(.standardTimeLimit) struct RoundTripTests {
  private func check<Value: JSONEncodable & JSONDecodable & Equatable>(
    _ values: Value..., sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for value in values {
      let document = try value.encoded()
      #expect(try Value(from: document.root) == value, sourceLocation: sourceLocation)
      let again = try Value(from: document.root).encoded()
      #expect(again.root.text == document.root.text, sourceLocation: sourceLocation)
    }
  }

  @Test func `params`() throws {
    let (secret, work) = (try Samples.secret("péss\"\n\u{0}"), try #require(ProfileName("work")))
    try check(Empty())
    try check(ProfileParams(), ProfileParams(profile: work))
    try check(
      Initialize.Params(),
      Initialize.Params(client: .init(name: "e", version: nil), protocolVersion: "1"),
      Initialize.Params(client: .init(name: "e", version: "2")))
    try check(
      GetAccessToken.Params(),
      GetAccessToken.Params(
        profile: work, minValidity: .milliseconds(1500), scopes: [], audience: "a", timeout: .zero, waitForLogin: true,
        forceRefresh: true), GetAccessToken.Params(url: "https://a.example"))
    try check(
      ReportRejected.Params(),
      ReportRejected.Params(
        profile: work, accessToken: secret, tokenID: "t", status: 403, scopes: ["a", "b"], audience: "c"))
    try check(
      Login.Params(),
      Login.Params(
        profile: work, method: "password", email: "a@b", password: secret, phoneNumber: "+1", refreshToken: secret,
        scopes: ["a"], clientContext: "c\"1"))
    try check(
      Register.Params(email: "a@b", password: secret),
      Register.Params(profile: work, email: "a@b", password: secret, name: "A", phoneNumber: "+1"))
    try check(VerifyOTP.Params(otpFlowID: "f", code: secret))
    try check(VerifyBackupCode.Params(otpFlowID: "f", backupCode: secret))
    for profile in [nil, work] {
      try check(VerifyEmail.Params(profile: profile, token: secret))
      try check(ForgotPassword.Params(profile: profile, email: "a@b"))
      try check(ResetPassword.Params(profile: profile, token: secret, password: secret))
      try check(ChangePassword.Params(profile: profile, oldPassword: secret, newPassword: secret))
      try check(DeleteAccount.Params(profile: profile, password: secret))
      try check(GenerateBackupCodes.Params(profile: profile, password: secret))
      try check(UpdateProfile.Params(profile: profile, changes: Samples.changes))
    }
    try check(AwaitLogin.Params(loginFlowID: "f"), AwaitLogin.Params(loginFlowID: "f", timeout: .milliseconds(500)))
    try check(CompleteLogin.Params(loginFlowID: "f", redirectURL: secret))
    try check(CancelLogin.Params(), CancelLogin.Params(otpFlowID: "a"), CancelLogin.Params(loginFlowID: "b"))
    try check(Reauthenticate.Params(), Reauthenticate.Params(profile: work, password: secret))
    try check(
      OpenSocket.Params(profiles: [work], lifetime: .seconds(1)),
      OpenSocket.Params(
        profiles: [work], methods: ["m"], scopes: ["s"], audiences: ["a"], may: "use", users: ["1005", "ann"],
        group: "g", lifetime: .seconds(60), path: "/a b", mode: "0660"))
    try check(CloseSocket.Params(socketID: "open-1"))
    try check(ResendOTP.Params(otpFlowID: "f"))
    try check(ResendOTP.Params(otpFlowID: "f", channel: .email))
    try check(Logout.Params(), Logout.Params(profile: work, everywhere: true, all: true))
    try check(Subscribe.Params(), Subscribe.Params(events: ["login"], profiles: [work], since: 7))
    try check(Unsubscribe.Params(subscriptionID: "s"))
    try check(Unlock.Params(), Unlock.Params(passphrase: secret))
    try check(Rekey.Params(), Rekey.Params(keySource: .credential, passphrase: secret, newPassphrase: secret))
    try check(CheckVault.Params(), CheckVault.Params(isFull: true))
    try check(StopBroker.Params(), StopBroker.Params(discardsUnsaved: true), StopBroker.Params(isImmediate: true))
    try check(StopBroker.Result(), StopBroker.Result(awaited: 2, atMost: .seconds(25)))
    try check(CheckProviders.Params(), CheckProviders.Params(profile: work))
    try check(
      TryProvider.Params(),
      TryProvider.Params(
        profile: work, method: "password", email: "a@b", password: secret, refreshToken: secret,
        triesWrongPassword: true, replaysToken: true))
    try check(
      ContinueTrial.Params(trialID: "t"),
      ContinueTrial.Params(
        trialID: "t", code: secret, backupCode: secret, resends: true, stops: true, timeout: .milliseconds(500)))
    try check(GetCurrentUser.Params(), GetCurrentUser.Params(profile: work, maxAge: .zero))
  }

  @Test func `what the embedded provider's owner sends and is told`() throws {
    let secret = try Samples.secret("péss\"\n\u{0}")
    try check(
      AddLocalUser.Params(email: "a@b", password: secret),
      AddLocalUser.Params(email: "a@b", password: secret, name: "A", phoneNumber: "+1"))
    for isEnabled in [true, false] { try check(SetLocalUserEnabled.Params(user: "a@b", isEnabled: isEnabled)) }
    try check(ListLocalSessions.Params(), ListLocalSessions.Params(user: "u"))
    try check(
      RevokeLocalSessions.Params(), RevokeLocalSessions.Params(user: "u"), RevokeLocalSessions.Params(session: "s"),
      RevokeLocalSessions.Params(all: true))
    try check(DeleteLocalUser.Params(user: "u"))
    try check(
      ResetLocalUser.Params(user: "u"), ResetLocalUser.Params(user: "u", password: secret),
      ResetLocalUser.Params(user: "u", removesSecondFactor: true))
    try check(IntrospectLocalToken.Params(token: secret))
    try check(ListLocalAudit.Params(), ListLocalAudit.Params(since: 0, limit: 1))
    try check(ListLocalUsers.Result(users: []), ListLocalUsers.Result(users: Samples.localUsers))
    try check(ListLocalSessions.Result(sessions: []), ListLocalSessions.Result(sessions: [Samples.localSession]))
    try check(RevokeLocalSessions.Result(revoked: 3))
    try check(ListLocalMessages.Result(messages: []), ListLocalMessages.Result(messages: try Samples.localMessages()))
    try check(
      GetLocalKeySet.Result(keys: []), GetLocalKeySet.Result(keys: [JSONWebKey(keyID: "k", publicKey: "x")]))
    try check(TokenIntrospection(isActive: false), Samples.introspection)
    try check(
      ListLocalAudit.Result(records: [], isIntact: true),
      ListLocalAudit.Result(records: Samples.auditRecords, isIntact: false))
  }

  @Test func `the audit, with everything that an entry and a verification can have`() throws {
    try check(
      ReadAudit.Params(),
      ReadAudit.Params(
        after: 3, since: Timestamp(milliseconds: 5), profile: ProfileName("work"), verifies: true, head: "1.x"))
    var entry = AuditEntry(
      .consent, at: Timestamp(milliseconds: 7000), count: 3, since: Timestamp(milliseconds: 6000), outcome: "allowed")
    (entry.number, entry.method, entry.profile) = (9, "getAccessToken", ProfileName("work"))
    entry.client = AuditedClient(
      ClientIdentity(socket: "ci", uid: 1005, unit: "user/a.scope", label: "snap.x", tool: "g\"it"),
      isAdministrative: true)
    (entry.scopes, entry.audience, entry.tokenID, entry.subject) = (["a b", "c"], "urn:a", "k3Vh", "unit")
    let finding = AuditFinding(.missing, isError: true, entry: 4, "Entry 4 is missing.")
    try check(
      ReadAudit.Result(through: 0),
      ReadAudit.Result(
        entries: [entry, AuditEntry(.gap, at: Timestamp(milliseconds: 8000), count: 0)], through: 10, omitted: 2,
        head: "10.x", isOn: false, verification: AuditVerification(count: 10, findings: [finding])))
  }

  @Test func `a key set is one that other programs read`() throws {
    // The key of RFC 8037, appendix A.2.
    let key = JSONWebKey(keyID: "k", publicKey: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
    let text = String(decoding: try GetLocalKeySet.Result(keys: [key]).encoded().root.text, as: UTF8.self)
    #expect(
      text == #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"k","#
        + #""use":"sig","alg":"EdDSA"}]}"#)
  }

  @Test func `results`() throws {
    let sessions = Samples.sessions
    for session in sessions { try check(session) }
    try check(User(id: "u"), Samples.user)
    let steps: [LoginProgress] = [
      .authenticated(Samples.fullSession), .otpRequired(Samples.challenge), .emailVerificationRequired,
      .userActionRequired(Samples.action), .userActionRequired(Samples.browserAction),
    ]
    for step in steps { try check(LoginResult(step), LoginResult(step, clientContext: "c\"1")) }
    for session in sessions {
      try check(GetSession.Result(session: session), GetSession.Result(session: session, login: Samples.loginForms))
    }
    try check(
      ListPendingLogins.Result(logins: []),
      ListPendingLogins.Result(logins: [.code(Samples.challenge), .action(Samples.action)]))
    try check(
      LoginResult(.authenticated(Samples.fullSession), clientContext: "c", backupCodesRemaining: 3))
    try check(
      UpdateProfile.Result(user: Samples.user),
      UpdateProfile.Result(user: User(id: "u"), enrolment: try Samples.enrolment()))
    try check(
      GenerateBackupCodes.Result(backupCodes: []),
      GenerateBackupCodes.Result(backupCodes: [try Samples.secret("a-b"), try Samples.secret("c\"d")]))
    for method in OTPChallenge.Method.allCases {
      var challenge = Samples.challenge
      challenge.method = method
      try check(challenge)
    }
    let secret = try Samples.secret("example-token")
    try check(
      AccessToken(accessToken: secret, expiresAt: nil, scopes: [], profile: .default, tokenID: "t"),
      AccessToken(
        accessToken: secret, expiresAt: Samples.time, scopes: ["a"], profile: .default, tokenID: "t", audience: "b",
        isOffline: true))
    try check(
      IdentityToken(idToken: secret, expiresAt: nil), IdentityToken(idToken: secret, expiresAt: Samples.time))
    let capabilities = Initialize.Capabilities(
      methods: ["ping"], events: [], framings: ["lines"], providers: [.init(type: "local", methods: ["register"])])
    try check(
      Initialize.Result(
        protocolVersion: Initialize.protocolVersion, server: .init(name: "s", version: "1"), capabilities: capabilities,
        profiles: [.init(profile: .default, provider: "rest", login: Samples.loginForms)], sessions: sessions,
        sequence: 7))
    try check(ListSessions.Result(sessions: []), ListSessions.Result(sessions: sessions))
    try check(
      ListTargets.Result(targets: []),
      ListTargets.Result(targets: [
        Target(url: "https://a.example", profile: .default),
        Target(
          url: "smtps://b.example:465/x", profile: .default, username: "u", scopes: ["s"], audience: "a",
          scheme: .basic),
      ]))
    try check(
      Logout.Result(
        results: LogoutOutcome.ServerRevoked.allCases.map { LogoutOutcome(profile: .default, serverRevoked: $0) }))
    try check(
      Subscribe.Result(subscriptionID: "s", sequence: 0, sessions: []),
      Subscribe.Result(subscriptionID: "s", sequence: 1, sessions: sessions, resync: true))
    try check(ReloadConfiguration.Result(profiles: [.default]))
    try check(
      GetStatus.Result(
        version: "1", pid: 1, startedAt: Samples.time, uptime: .milliseconds(12345),
        vault: .init(locked: true, keySource: "file", schemaVersion: 1, path: "/v"), connections: 2, subscriptions: 3,
        counters: [.init(name: "a\"b", value: 1), .init(name: "", value: 0)],
        limits: [
          .init(name: "maxX", scope: "broker", value: 10, used: 3, refused: 2),
          .init(name: "ySeconds", scope: "connection", value: 0.002, refused: 0),
        ], delivery: Samples.deliveries,
        authorities: [.init(source: "SSL_CERT_DIR", path: "/c", isReadable: false)],
        addresses: [.init(profile: .default, address: "https://a.example/b")], profiles: sessions))
    try check(CheckVault.Result(findings: []), CheckVault.Result(findings: Samples.findings))
    try check(CheckProviders.Result(providers: []), CheckProviders.Result(providers: Samples.reports))
    try check(
      CheckProvider.Result(profile: .default, provider: "rest", loginMethods: [], findings: [], trial: []),
      CheckProvider.Result(
        profile: .default, provider: "rest", loginMethods: ["password"], methods: ["register"],
        findings: Samples.providerFindings, trial: Samples.providerFindings))
    for state in Samples.trialStates { try check(state) }
    try check(RawJSON(text: Array(#"{"a":[1]}"#.utf8)))
  }

  @Test func `errors`() throws {
    try check(Samples.fullError)
    for kind in ErrorKind.allCases { try check(BrokerError(kind)) }
  }

  @Test(arguments: Samples.payloads)
  func `events`(_ payload: EventPayload) throws {
    for profile in [nil, ProfileName.default] {
      let event = BrokerEvent(sequence: 1 << 40, profile: profile, time: Samples.time, payload: payload)
      let root = try JSONDocument(parsing: event.notification(for: "s1", event.details())).root
      #expect(try root.members().map(\.name) == ["jsonrpc", "method", "params"])
      #expect(try root.required("params").required("subscriptionId").string() == "s1")
      #expect(try BrokerEvent.read(from: try root.required("params")) == event)
    }
  }

  @Test func `an event of a later version is passed over`() throws {
    let text = #"{"subscriptionId":"s","sequence":1,"event":"later","time":"2026-03-01T09:00:00Z","data":{"x":1}}"#
    #expect(try BrokerEvent.read(from: JSONDocument(text).root) == nil)
  }

  @Test func `an error of a later version keeps its sentence`() throws {
    let text = #"{"code":2000,"message":"New.","data":{"kind":"later","nextAction":"dance","retryable":true}}"#
    let error = try BrokerError(from: JSONDocument(text).root)
    #expect(error.kind == .internal && error.message == "New." && error.isRetryable)
    let bare = try BrokerError(from: JSONDocument(#"{"code":-32000,"message":"Bare."}"#).root)
    #expect(bare.kind == .internal && bare.message == "Bare.")
  }

  @Test func `null members are absent ones, and unknown ones are ignored`() throws {
    let text = #"{"profile":null,"minValiditySeconds":null,"scopes":null,"timeoutSeconds":null,"later":{"x":[]}}"#
    #expect(try GetAccessToken.Params(from: JSONDocument(text).root) == GetAccessToken.Params())
  }

  @Test func `what an older broker does not say is empty`() throws {
    let session = try Samples.fullSession.encoded().root
    #expect(try GetSession.Result(from: session) == GetSession.Result(session: Samples.fullSession))
    let text =
      #"{"protocolVersion":"1","server":{"name":"s"},"capabilities":{"methods":[],"events":[],"framings":[],"#
      + #""providers":[]},"sessions":[],"sequence":0}"#
    #expect(try Initialize.Result(from: JSONDocument(text).root).profiles.isEmpty)
  }

  @Test func `a secret shows nowhere but on the wire`() throws {
    let params = Login.Params(email: "a@b", password: try Samples.secret("canary"))
    var dumped = ""
    dump(params, to: &dumped)
    #expect(!"\(params)".contains("canary") && !dumped.contains("canary"))
    #expect(String(decoding: try params.encoded().root.text, as: UTF8.self).contains("canary"))
  }
}
