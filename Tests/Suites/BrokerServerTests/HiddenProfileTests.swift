import BrokerCore
import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// That a client to which profiles are hidden is told nothing of them.
@Suite(.standardTimeLimit) struct HiddenProfileTests {
  /// What each method is asked: `<OTP>`, `<FLOW>` and `<FACTOR>` are handles of what waits on hidden profiles, `work` is one.
  static let questions: [String: [String]] = [
    "initialize": ["{}"], "ping": ["{}"], "rpc.discover": ["{}"], "shutdown": ["{}"],
    "getAccessToken": [
      #"{"profile":"work"}"#, #"{"profile":"work","waitForLogin":true}"#, #"{"profile":"work","forceRefresh":true}"#,
      #"{"profile":"default"}"#, #"{"profile":"spare","scopes":["a"]}"#, #"{"profile":"work","minValiditySeconds":1}"#,
      "{}", #"{"profile":"shop"}"#, #"{"forceRefresh":true}"#, #"{"scopes":["a"],"audience":"b"}"#,
      #"{"url":"https://work.example.com"}"#, #"{"url":"https://git.example.com/team/x"}"#, #"{"url":"ftp:"}"#,
    ],
    "reportRejected": [#"{"profile":"work","tokenId":"id-2"}"#, #"{"tokenId":"id-2"}"#, #"{"tokenId":"id-1"}"#],
    "sendRequest": [
      #"{"profile":"work","method":"GET","url":"https://api.example.com/"}"#, #"{"method":"GET","url":"/v1"}"#,
      #"{"method":"GET","url":"https://api.example.com/"}"#,
    ],
    "queueRequest": [
      #"{"profile":"work","method":"PUT","url":"https://api.example.com/","idempotencyKey":"k"}"#,
      #"{"method":"PUT","url":"/v1","idempotencyKey":"k"}"#,
    ],
    "listRequests": [#"{"profile":"work"}"#, "{}"], "getRequest": [#"{"requestId":"r"}"#],
    "cancelRequest": [#"{"requestId":"r"}"#],
    "openDoor": [#"{"profile":"work","origin":"https://api.example.com"}"#, #"{"origin":"https://api.example.com"}"#],
    "closeDoor": [#"{"doorId":"d"}"#], "listDoors": ["{}"],
    "getIdToken": [#"{"profile":"work"}"#, "{}"],
    "createProof": [
      #"{"profile":"work","tokenId":"id-2","method":"GET","url":"https://a.example"}"#,
      #"{"tokenId":"id-2","method":"GET","url":"https://a.example"}"#,
    ],
    "login": [
      #"{"profile":"work","email":"a@example.test","password":"right"}"#, #"{"profile":"spare","method":"deviceCode"}"#,
      #"{"email":"a@example.test","password":"wrong"}"#, #"{"method":"deviceCode"}"#,
    ],
    "verifyOtp": [#"{"otpFlowId":"<OTP>","code":"123456"}"#, #"{"otpFlowId":"<FACTOR>","code":"123456"}"#],
    "resendOtp": [#"{"otpFlowId":"<OTP>"}"#, #"{"otpFlowId":"<FACTOR>"}"#],
    "register": [
      #"{"profile":"work","email":"b@example.test","password":"x"}"#, #"{"email":"b@x.test","password":"x"}"#,
    ],
    "verifyBackupCode": [#"{"otpFlowId":"<OTP>","backupCode":"backup"}"#],
    "verifyEmail": [#"{"profile":"work","token":"t"}"#, #"{"token":"t"}"#],
    "forgotPassword": [#"{"profile":"work","email":"a@example.test"}"#, #"{"email":"a@example.test"}"#],
    "resetPassword": [#"{"profile":"work","token":"t","password":"p"}"#, #"{"token":"t","password":"p"}"#],
    "changePassword": [
      #"{"profile":"work","oldPassword":"o","newPassword":"n"}"#, #"{"oldPassword":"o","newPassword":"n"}"#,
    ],
    "updateProfile": [#"{"profile":"work","changes":{"name":"B"}}"#, #"{"changes":{"name":"B"}}"#],
    "generateBackupCodes": [#"{"profile":"work","password":"right"}"#, #"{"password":"right"}"#],
    "deleteAccount": [#"{"profile":"work","password":"right"}"#, #"{"password":"right"}"#],
    "awaitLogin": [#"{"loginFlowId":"<FLOW>"}"#, #"{"loginFlowId":"<FLOW>","timeoutSeconds":5}"#],
    "completeLogin": [#"{"loginFlowId":"<FLOW>","redirectUrl":"right"}"#],
    "cancelLogin": [#"{"loginFlowId":"<FLOW>"}"#, #"{"otpFlowId":"<OTP>"}"#],
    "listPendingLogins": [#"{"profile":"work"}"#, #"{"profile":"default"}"#, "{}"],
    "reauthenticate": [#"{"profile":"work","password":"right"}"#, #"{"password":"right"}"#],
    "logout": [#"{"profile":"work"}"#, #"{"profile":"work","all":true}"#, #"{"everywhere":true}"#, "{}"],
    "getCurrentUser": [#"{"profile":"work"}"#, #"{"profile":"work","maxAgeSeconds":0}"#, "{}"],
    "getSession": [#"{"profile":"work"}"#, #"{"profile":"default"}"#, "{}"],
    "listSessions": ["{}"],
    "listTargets": ["{}", #"{"url":"https://git.example.com/team/x"}"#, #"{"url":"https://work.example.com"}"#],
    "subscribe": [
      #"{"profiles":["work"]}"#, #"{"profiles":["shop","default"]}"#, "{}", #"{"since":0}"#, #"{"since":3}"#,
      #"{"profiles":["shop"],"since":1}"#,
    ],
    "unsubscribe": [#"{"subscriptionId":"s1"}"#],
    "getStatus": ["{}"], "prove": ["{}"], "reloadConfig": ["{}"],
    "listConsents": ["{}"], "answerConsent": [#"{"consentId":"c","allow":true}"#],
    "listClients": ["{}"], "explainAccess": [#"{"profile":"work"}"#, "{}"],
    "lock": ["{}"], "unlock": ["{}"], "rekey": ["{}"], "checkVault": ["{}"],
    "checkProviders": [#"{"profile":"work"}"#, "{}"], "checkProvider": [#"{"profile":"work"}"#, "{}"],
    "openSocket": [#"{"profiles":["work"],"lifetimeSeconds":9}"#], "closeSocket": [#"{"socketId":"open-0"}"#],
    "listSockets": ["{}"], "readAudit": ["{}"], "tryProvider": [#"{"profile":"work"}"#],
    "continueTrial": [#"{"trialId":"<OTP>"}"#],
    "stopBroker": ["{}"],
    "listLocalUsers": ["{}"], "addLocalUser": [#"{"email":"b@example.test","password":"p"}"#],
    "setLocalUserEnabled": [#"{"user":"u","enabled":false}"#], "resetLocalUser": [#"{"user":"u"}"#],
    "deleteLocalUser": [#"{"user":"u"}"#], "listLocalSessions": ["{}"], "revokeLocalSessions": ["{}"],
    "listLocalMessages": ["{}"], "getLocalKeySet": ["{}"], "rotateLocalSigningKey": ["{}"],
    "introspectLocalToken": [#"{"token":"t"}"#], "listLocalAudit": ["{}"],
  ]

  private static func isOfHidden(_ params: String) -> Bool {
    ["\"work\"", "\"default\"", "\"spare\"", "<OTP>", "<FLOW>", "<FACTOR>"].contains { params.contains($0) }
  }

  private static func targets(_ profiles: [String]) throws -> TargetMap {
    var map = TargetMap()
    let entries = [
      ("https://git.example.com", "shop"), ("https://git.example.com/team/", "work"),
      ("https://work.example.com", "work"),
    ]
    for (url, name) in entries where profiles.contains(name) {
      guard let profile = ProfileName(name) else { continue }
      _ = map.add(Target(url: url, profile: profile), at: try TargetAddress(prefix: url))
    }
    return map
  }

  @Test func `every method has a question that could tell of a hidden profile`() {
    #expect(Set(Self.questions.keys) == Set(Methods.all.map { $0.name }))
  }

  @Test(arguments: questions.keys.sorted())
  func `no method tells of hidden profiles, or does anything with them`(_ method: String) async throws {
    try await OwnThread.run {
      let (alone, among) = (
        try HiddenProfileStage(isBusy: false, targets: try Self.targets(["shop"])),
        try HiddenProfileStage(isBusy: true, targets: try Self.targets(["shop", "work"]))
      )
      let questions = Self.questions[method] ?? []
      for params in questions.filter(Self.isOfHidden) {
        let (expected, told) = (alone.ask(method, params), among.ask(method, params))
        #expect(!told.isEmpty && told == expected, "\(params)")
      }
      // Nothing was done to a hidden profile.
      #expect(among.watcher.lines().isEmpty)
      for params in questions where !Self.isOfHidden(params) {
        let (expected, told) = (alone.ask(method, params), among.ask(method, params))
        #expect(told == expected, "\(params)")
      }
      for stage in [alone, among] { stage.wait(6) }
      #expect(among.told == alone.told)
    }
  }

  @Test func `events are counted by the subscription alone, and none tells of a hidden profile`() async throws {
    try await OwnThread.run {
      let (alone, among) = (try HiddenProfileStage(isBusy: false), try HiddenProfileStage(isBusy: true))
      for stage in [alone, among] {
        let begun = stage.ask("subscribe") + stage.ask("subscribe", #"{"events":["login","logout"]}"#)
        #expect(begun.count == 2 && begun.allSatisfy { $0.contains(#""sequence":0"#) }, "\(begun)")
        #expect(begun[0].contains(#""subscriptionId":"s1""#) && begun[1].contains(#""subscriptionId":"s2""#))
      }
      var story: [String] = []
      let acts = [
        ("getAccessToken", #"{"profile":"P","forceRefresh":true}"#), ("logout", #"{"profile":"P"}"#),
        ("login", #"{"profile":"P","method":"deviceCode"}"#),
        ("login", #"{"profile":"P","email":"a@example.test","password":"right"}"#),
        ("reportRejected", #"{"profile":"P","tokenId":"id-1","status":403}"#),
        ("login", #"{"profile":"P","email":"a@example.test","password":"wrong"}"#),
      ]
      for (method, params) in acts {
        // In between, and as much again, others do the same with a profile that is hidden.
        among.act(method, params.replacing("\"P\"", with: #""work""#))
        #expect(among.told.isEmpty)
        for stage in [alone, among] { stage.act(method, params.replacing("\"P\"", with: #""shop""#)) }
        let (expected, told) = (alone.told, among.told)
        #expect(told == expected, "\(method)")
        story += told
        for stage in [alone, among] { stage.wait(1) }
      }
      let sequences = story.filter { $0.contains(#""s1""#) }.compactMap { line in
        line.split(separator: #""sequence":"#).last.flatMap { Int($0.prefix { $0.isNumber }) }
      }
      #expect(sequences.count > 5 && sequences == Array(1...sequences.count), "\(sequences)")
      #expect(among.watcher.lines().count { $0.contains(#""profile":"work""#) } > 5)
    }
  }

  @Test func `what waits on hidden profiles waits on, however it is asked for`() async throws {
    try await OwnThread.run {
      let stage = try HiddenProfileStage(isBusy: true)
      for method in ["verifyOtp", "resendOtp", "verifyBackupCode", "awaitLogin", "completeLogin", "cancelLogin"] {
        for params in Self.questions[method] ?? [] {
          let told = stage.ask(method, params)
          #expect(told.first?.contains(#""kind":"flowNotFound""#) == true, "\(told)")
        }
      }
      let pending = stage.act("listPendingLogins", "{}")
      #expect(pending.contains(stage.handles["OTP"] ?? "-") && pending.contains(stage.handles["FLOW"] ?? "-"))
      // How one ended is for nobody else either.
      stage.act("cancelLogin", #"{"loginFlowId":"\#(stage.handles["FLOW"] ?? "")"}"#)
      let late = stage.ask("awaitLogin", #"{"loginFlowId":"<FLOW>"}"#)
      #expect(late.first?.contains(#""kind":"flowNotFound""#) == true, "\(late)")
      #expect(stage.harness.provider.codes.isEmpty && stage.harness.provider.backupCodes.isEmpty)
    }
  }

  @Test func `who is not shown all profiles waits for none of the others`() async throws {
    try await OwnThread.run {
      let change = #"{"profile":"shop","oldPassword":"o","newPassword":"n"}"#
      let stage = try HiddenProfileStage(isBusy: true)
      // The session of the hidden profile is examined behind a store that stands still.
      stage.harness.store.hold()
      #expect(stage.ask("changePassword", change).count == 1)
      #expect(stage.owner.ask(LoginStage.line("changePassword", change)).isEmpty)
      stage.harness.store.release()
      stage.harness.settle()
      #expect(stage.owner.lines().count >= 1)
    }
  }

  @Test(arguments: [false, true])
  func `what is kept of hidden profiles ends without a caller that is not shown them`(
    _ isOwners: Bool
  ) async throws {
    try await OwnThread.run {
      let stage = try HiddenProfileStage(isBusy: true)
      let settings = [ProfileSettings(name: try #require(ProfileName("shop")), provider: stage.harness.provider)]
      stage.harness.broker.assumeIsolated { $0.reconfigureSoon(settings) }
      stage.harness.settle()
      stage.act("logout", #"{"profile":"shop"}"#)
      stage.harness.store.hold()
      let asker = isOwners ? stage.owner : stage.client
      let reset = LoginStage.line("resetPassword", #"{"token":"t","password":"p"}"#)
      #expect(asker.askBare(reset).contains { $0.contains(#""result":{}"#) } == !isOwners)
      stage.harness.store.release()
      stage.harness.settle()
      #expect(asker.lines().contains { $0.contains(#""result":{}"#) } == isOwners)
      #expect(stage.act("getStatus", "{}").contains(#""parkedSessions":[]"#))
    }
  }

  @Test(arguments: [false, true])
  func `a logout is answered without the sessions of hidden profiles`(_ isOwners: Bool) async throws {
    try await OwnThread.run {
      let stage = try HiddenProfileStage(isBusy: true)
      let asker = isOwners ? stage.owner : stage.client
      stage.harness.provider.hold()
      asker.send(LoginStage.line("logout", #"{"profile":"shop","everywhere":true}"#) + "\n")
      stage.harness.store.hold()
      stage.harness.provider.release()
      stage.harness.settle()
      #expect(asker.lines().contains { $0.contains("serverRevoked") } == !isOwners)
      stage.harness.store.release()
      stage.harness.settle()
      #expect(asker.lines().contains { $0.contains("serverRevoked") } == isOwners)
    }
  }

  @Test func `a hidden profile that leaves the configuration, with its session, was never there`() async throws {
    try await OwnThread.run {
      let (alone, among) = (try HiddenProfileStage(isBusy: false), try HiddenProfileStage(isBusy: true))
      for stage in [alone, among] {
        let shop = try #require(ProfileName("shop"))
        let settings = [ProfileSettings(name: shop, provider: stage.harness.provider)]
        stage.harness.broker.assumeIsolated { $0.reconfigureSoon(settings) }
        stage.harness.settle()
      }
      #expect(among.act("getStatus", "{}").contains(#""parkedSessions":[{"profile":"work""#))
      for (method, params) in [
        ("getStatus", "{}"), ("logout", #"{"profile":"work"}"#), ("subscribe", #"{"profiles":["work"]}"#),
        ("deleteAccount", #"{"password":"right"}"#), ("getSession", "{}"),
      ] {
        #expect(among.ask(method, params) == alone.ask(method, params), "\(method)")
      }
    }
  }

  @Test func `a cached token is answered to whom its profile exists for, in every framing`() async throws {
    try await OwnThread.run {
      let stage = try HiddenProfileStage(isBusy: true)
      stage.act("getAccessToken", #"{"profile":"shop"}"#)
      let spent = stage.harness.provider.spentTokens.count
      let questions = [#"{"profile":"shop"}"#, "{}", #"{"profile":"work"}"#, #"{"profile":"nope"}"#]
      let lines = questions.map { LoginStage.line("getAccessToken", $0) }
      let expected = ["shop", "shop", "unknownProfile", "unknownProfile"]
      func check(_ answers: [Substring]) {
        #expect(answers.count == 4 && zip(answers, expected).allSatisfy { $0.contains($1) }, "\(answers)")
        #expect(answers.suffix(2).allSatisfy { !$0.contains("access-") })
      }
      check(lines.flatMap { stage.client.askBare($0) }.map { $0[...] })
      // The second of two equal questions of a turn is answered as the first one was.
      check(lines.flatMap { stage.client.askBare("\($0)\n\($0)").suffix(1) }.map { $0[...] })
      let batch = stage.client.askBare("[" + lines.joined(separator: ",") + "]").joined()
      check(batch.split(separator: #"{"jsonrpc""#).dropFirst().map(\.self))
      let framed = try stage.harness.connect(Permissions(only: [ProfileName("shop")].compactMap(\.self)))
      for line in lines { framed.send("Content-Length: \(line.utf8.count)\r\n\r\n\(line)") }
      framed.read()
      check(String(decoding: framed.received, as: UTF8.self).split(separator: "Content-Length").map(\.self))
      #expect(stage.harness.provider.spentTokens.count == spent)
    }
  }
}
