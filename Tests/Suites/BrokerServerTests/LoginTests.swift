import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// How logins are begun, shared, answered and replaced.
@Suite(.standardTimeLimit) struct LoginTests {
  private static func codes() throws -> LoginStage { try LoginStage { $0.setWantsCode(true) } }

  private static func id(_ answer: String) throws -> String {
    let parts = answer.split(separator: #""otpFlowId":""#, maxSplits: 1)
    return try String(#require(parts.last?.split(separator: "\"").first))
  }

  private static func verify(_ id: String, _ code: String, _ request: Int = 9) -> String {
    LoginStage.line("verifyOtp", #"{"otpFlowId":"\#(id)","code":"\#(code)"}"#, request)
  }

  @Test func `a hundred equal callers cause one call, one challenge, one event`() async throws {
    try await OwnThread.run {
      let stage = try Self.codes()
      let clients = try (0..<10).map { _ in try stage.harness.connect() }
      stage.harness.provider.hold()
      for client in clients {
        client.send((1...10).map { LoginStage.line("login", LoginStage.credentials, $0) + "\n" }.joined())
      }
      #expect(stage.harness.provider.waitingCalls == 1)
      stage.harness.provider.release()
      stage.harness.settle()
      let answers = clients.flatMap { $0.lines() }
      #expect(answers.count == 100)
      #expect(Set(try answers.map(Self.id)).count == 1)
      #expect(stage.harness.provider.logins.count == 1)
      #expect(stage.events == ["otpChallenge"])
      #expect(stage.harness.store.pendingLogins.count == 1)
    }
  }

  @Test func `an equal login shares the challenge until it is durable, and then it is another one`() async throws {
    try await OwnThread.run {
      let stage = try Self.codes()
      let other = try stage.harness.connect()
      stage.harness.store.hold()
      #expect(stage.call("login", LoginStage.credentials) == "")
      #expect(other.ask(LoginStage.line("login", LoginStage.credentials)).isEmpty)
      stage.harness.store.release()
      stage.harness.settle()
      let (first, second) = (try Self.id(stage.client.lines()[0]), try Self.id(other.lines()[0]))
      #expect(first == second && stage.harness.provider.logins.count == 1)
      let third = try Self.id(stage.call("login", LoginStage.credentials))
      #expect(third != first && stage.harness.provider.logins.count == 2)
      #expect(stage.client.ask(Self.verify(first, "123456")).first?.contains("flowNotFound") == true)
      #expect(stage.client.ask(Self.verify(third, "123456")).first?.contains("authenticated") == true)
    }
  }

  @Test func `pending logins of all profiles are listed together, and those of one alone`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness(profiles: ["default", "work", "other"]) { $0.setWantsCode(true) }
      let client = try harness.connect()
      for (number, profile) in ["work", "default"].enumerated() {
        let credentials = #"{"profile":"\#(profile)","email":"a@example.test","password":"right"}"#
        #expect(client.ask(LoginStage.line("login", credentials, number)).first?.contains("otpRequired") == true)
      }
      let all = try #require(client.ask(LoginStage.line("listPendingLogins")).first)
      #expect(all.split(separator: "otpFlowId").count == 3)
      let one = try #require(client.ask(LoginStage.line("listPendingLogins", #"{"profile":"work"}"#)).first)
      #expect(one.split(separator: "otpFlowId").count == 2 && one.contains(#""profile":"work""#))
      let none = client.ask(LoginStage.line("listPendingLogins", #"{"profile":"nothing"}"#)).first
      #expect(none?.contains("unknownProfile") == true)
    }
  }

  @Test func `a login that fails leaves the challenge before it as it was`() async throws {
    try await OwnThread.run {
      let stage = try Self.codes()
      let id = try Self.id(stage.call("login", LoginStage.credentials))
      let refused = stage.call("login", #"{"email":"a@example.test","password":"wrong"}"#)
      #expect(refused.contains("invalidCredentials"))
      #expect(stage.client.ask(Self.verify(id, "123456")).first?.contains("authenticated") == true)
    }
  }

  @Test func `a right code that two clients give at once is used once, and both are logged in`() async throws {
    try await OwnThread.run {
      let stage = try Self.codes()
      let other = try stage.harness.connect()
      let id = try Self.id(stage.call("login", LoginStage.credentials))
      stage.harness.provider.hold()
      #expect(stage.client.ask(Self.verify(id, "123456")).isEmpty)
      #expect(other.ask(Self.verify(id, "123456")).isEmpty)
      #expect(stage.harness.provider.waitingCalls == 1)
      stage.harness.provider.release()
      stage.harness.settle()
      #expect(stage.client.lines().first?.contains("authenticated") == true)
      #expect(other.lines().first?.contains("authenticated") == true)
      #expect(stage.harness.provider.codes == ["123456"])
      #expect(stage.harness.provider.revocations == 0 && stage.harness.store.saveCount == 1)
    }
  }

  @Test func `different codes are asked about one after the other`() async throws {
    try await OwnThread.run {
      let stage = try Self.codes()
      let other = try stage.harness.connect()
      let id = try Self.id(stage.call("login", LoginStage.credentials))
      stage.harness.provider.hold()
      _ = stage.client.ask(Self.verify(id, "000000"))
      _ = other.ask(Self.verify(id, "123456"))
      _ = other.ask(Self.verify(id, "111111", 10))
      #expect(stage.harness.provider.waitingCalls == 1)
      stage.harness.provider.release()
      stage.harness.settle()
      #expect(stage.client.lines().first?.contains("otpInvalid") == true)
      let answers = other.lines()
      #expect(answers.count == 2)
      #expect(answers.contains { $0.contains("authenticated") } && answers.contains { $0.contains("flowNotFound") })
      #expect(stage.harness.provider.codes == ["000000", "123456"])
    }
  }

  @Test func `five wrong codes end the login even where the provider counts none, over restarts`() async throws {
    try await OwnThread.run {
      let (store, clock) = (InMemoryStore(), ManualClock())
      let prepare: (ScriptedProvider) -> Void = { provider in
        provider.setWantsCode(true)
        provider.setWrongCode(.refused(.otpInvalid))
      }
      let first = try LoginStage(store: store, clock: clock, prepare: prepare)
      let id = try Self.id(first.call("login", LoginStage.credentials))
      for attempt in 1...3 {
        let answer = first.client.ask(Self.verify(id, "00000\(attempt)")).first ?? ""
        #expect(answer.contains("otpInvalid") && answer.contains(#""attemptsRemaining":\#(5 - attempt)"#))
      }
      let second = try LoginStage(store: store, clock: clock, prepare: prepare)
      #expect(second.call("listPendingLogins").contains(#""attemptsRemaining":2"#))
      #expect(second.client.ask(Self.verify(id, "000004")).first?.contains(#""attemptsRemaining":1"#) == true)
      let last = second.client.ask(Self.verify(id, "000005")).first ?? ""
      #expect(last.contains(#""kind":"tooManyAttempts""#))
      #expect(second.client.ask(Self.verify(id, "123456")).first?.contains("flowNotFound") == true)
      #expect(store.pendingLogins.isEmpty)
      #expect(second.events == ["loginFailed", "loginFailed"])
    }
  }

  @Test func `another code is sent after the cooldown, and once at a time`() async throws {
    try await OwnThread.run {
      let stage = try Self.codes()
      let other = try stage.harness.connect()
      let id = try Self.id(stage.call("login", LoginStage.credentials))
      let resend = LoginStage.line("resendOtp", #"{"otpFlowId":"\#(id)"}"#)
      let early = stage.client.ask(resend).first ?? ""
      #expect(early.contains("resendTooSoon") && early.contains(#""retryAfterSeconds":30"#))
      stage.wait(30)
      stage.harness.provider.hold()
      #expect(stage.client.ask(resend).isEmpty)
      #expect(other.ask(resend).first?.contains("resendTooSoon") == true)
      stage.harness.provider.release()
      stage.harness.settle()
      #expect(stage.client.lines().first?.contains(#""otpFlowId":"\#(id)""#) == true)
      #expect(stage.events == ["otpChallenge", "otpResent"] && stage.harness.provider.resends == 1)
      stage.wait(30)
      stage.harness.provider.setResendFailure(.transient(.networkUnavailable))
      #expect(stage.client.ask(resend).first?.contains("networkUnavailable") == true)
      #expect(stage.client.ask(Self.verify(id, "123456")).first?.contains("authenticated") == true)
    }
  }

  @Test func `a challenge can be cancelled, with a code on its way`() async throws {
    try await OwnThread.run {
      let stage = try Self.codes()
      let other = try stage.harness.connect()
      let id = try Self.id(stage.call("login", LoginStage.credentials))
      stage.harness.provider.hold()
      #expect(stage.client.ask(Self.verify(id, "123456")).isEmpty)
      let cancelled = other.ask(LoginStage.line("cancelLogin", #"{"otpFlowId":"\#(id)"}"#)).first
      #expect(cancelled?.contains(#""result":{}"#) == true)
      #expect(stage.client.lines().first?.contains(#""code":-32800"#) == true)
      stage.harness.provider.release()
      stage.harness.settle()
      #expect(stage.harness.provider.revocations == 1 && stage.harness.store.pendingLogins.isEmpty)
      #expect(stage.events == ["otpChallenge", "loginFailed"])
    }
  }

  @Test func `a challenge that nobody answers ends, and everybody is told`() async throws {
    try await OwnThread.run {
      let stage = try Self.codes()
      _ = stage.call("login", LoginStage.credentials)
      #expect(stage.call("getAccessToken").contains(#""challenge":{"otpFlowId""#))
      stage.wait(301)
      #expect(stage.events == ["otpChallenge", "loginFailed"])
      #expect(stage.call("listPendingLogins").contains(#""logins":[]"#))
      #expect(stage.call("getAccessToken").contains("loginRequired"))
    }
  }

  @Test(arguments: [
    ("{}", [LoginMethod.browser, .password], "browser"), ("{}", [.password, .deviceCode], "deviceCode"),
    (LoginStage.credentials, [.browser, .password], "password a@example.test"),
    (#"{"email":"a@example.test"}"#, [.password, .browser], "browser a@example.test"),
    (#"{"refreshToken":"taken"}"#, [.browser, .password, .refreshToken], "refreshToken"),
    (#"{"method":"deviceCode","scopes":["a","b"]}"#, [.browser, .deviceCode], "deviceCode a,b"),
    ("{}", [.password, .clientCredentials], "clientCredentials"),
  ])
  func `the way that is taken is the first that what was given fits`(
    _ params: String, _ methods: [LoginMethod], _ expected: String
  ) async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setLoginMethods(methods) }
      #expect(stage.call("login", params).contains(#""result":{"status""#))
      #expect(stage.harness.provider.logins == [expected])
    }
  }

  @Test(arguments: [
    (#"{"method":"magic"}"#, #""kind":"invalidParams""#), (#"{"method":"magic"}"#, #""pointer":"/method""#),
    (#"{"method":"browser"}"#, "unsupportedByProvider"), ("{}", "missingCredential"),
    ("{}", #""fields":["email","password"]"#), (#"{"method":"password"}"#, "missingCredential"),
    (#"{"refreshToken":"x"}"#, "unsupportedByProvider"),
  ])
  func `what does not fit is refused without asking the provider`(_ params: String, _ expected: String) async throws {
    try await OwnThread.run {
      let stage = try LoginStage { _ in }
      #expect(stage.call("login", params).contains(expected))
      #expect(stage.harness.provider.logins.isEmpty && stage.events.isEmpty)
    }
  }

  @Test func `whoever gave no password is not told that one is wrong`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setLoginMethods([.refreshToken, .password]) }
      let refused = stage.call("login", #"{"refreshToken":"made-up"}"#)
      #expect(refused.contains(#""kind":"invalidCredentials","nextAction":"login""#), "\(refused)")
      #expect(refused.contains("rejected the refresh token") && !refused.contains("password"), "\(refused)")
      let wrong = stage.call("login", #"{"email":"a@example.test","password":"wrong"}"#)
      #expect(wrong.contains("The e-mail address or the password is wrong."), "\(wrong)")
    }
  }

  @Test func `a client that logs in by itself is nobody, and has no refresh token`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setLoginMethods([.clientCredentials]) }
      #expect(stage.call("login").contains(#""refreshTokenPresent":false"#))
      #expect(stage.call("getSession").contains(#""refreshTokenPresent":false"#))
      let user = stage.call("getCurrentUser", #"{"maxAgeSeconds":0}"#)
      #expect(user.contains(#""kind":"unsupportedByProvider""#) && user.contains("it has no user"), "\(user)")
      #expect(user.contains(#""retryable":false"#))
      #expect(stage.harness.provider.accountCalls.isEmpty, "the provider is not asked")
      // It is renewed all the same.
      #expect(stage.call("getAccessToken", #"{"forceRefresh":true}"#).contains("access-2"))
    }
  }

  @Test func `logins that a provider does not answer keep no other profile out`() async throws {
    try await OwnThread.run {
      let harness = try ServerHarness(profiles: ["a", "b"])
      let (client, other) = (try harness.connect(), try harness.connect())
      harness.provider.hold()
      func login(_ profile: String, _ password: String) -> String {
        let params = #"{"profile":"\#(profile)","email":"a@example.test","password":"\#(password)"}"#
        return #"{"jsonrpc":"2.0","id":1,"method":"login","params":\#(params)}"#
      }
      for number in 1...16 { #expect(client.ask(login("a", "wrong-\(number)")).isEmpty) }
      #expect(client.ask(login("a", "wrong")).first?.contains("overloaded") == true)
      #expect(other.ask(login("b", "right")).isEmpty)
      harness.provider.release()
      #expect(other.lines().first?.contains("authenticated") == true)
    }
  }
}
