import BrokerCore
import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// How often clients may have providers called.
@Suite(.standardTimeLimit) struct CallRateTests {
  private static func retryAfter(_ answer: String) -> Double? {
    answer.split(separator: #""retryAfterSeconds":"#).dropFirst().first.flatMap { part in
      Double(part.prefix { $0.isNumber || $0 == "." })
    }
  }

  private static func mail(_ number: Int) -> String { #"{"email":"person-\#(number)@example.test"}"# }

  @Test func `a client that has mails sent to many addresses is stopped, and so is one that connects again`()
    async throws
  {
    try await OwnThread.run {
      let stage = try LoginStage { _ in }
      var refused = ""
      for number in 0..<100 {
        let answer = stage.call("forgotPassword", Self.mail(number))
        if !answer.contains(#""result":{}"#) { refused = answer }
      }
      #expect(stage.harness.provider.accountCalls.count == 10)
      #expect(refused.contains(#""kind":"rateLimited""#) && refused.contains(#""retryable":true"#), "\(refused)")
      #expect(Self.retryAfter(refused) == 60, "\(refused)")
      for number in 100..<200 {
        let client = try stage.harness.connect()
        _ = client.ask(LoginStage.line("forgotPassword", Self.mail(number)))
        client.close()
      }
      #expect(stage.harness.provider.accountCalls.count == 30, "all clients together")
      stage.wait(60)
      #expect(stage.call("forgotPassword", Self.mail(1)).contains(#""result":{}"#))
    }
  }

  @Test func `one address gets five mails at once`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { _ in }
      for spelling in ["a@example.test", "A@example.test", " a@EXAMPLE.test ", "a@example.test", "a@example.test"] {
        #expect(stage.call("forgotPassword", #"{"email":"\#(spelling)"}"#).contains(#""result":{}"#))
      }
      let refused = stage.call("forgotPassword", #"{"email":"a@example.test"}"#)
      #expect(refused.contains("rateLimited") && Self.retryAfter(refused) == 300, "\(refused)")
      #expect(stage.call("forgotPassword", #"{"email":"b@example.test"}"#).contains(#""result":{}"#))
    }
  }

  @Test func `codes that logins send run out, and no login is begun for another one`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setWantsCode(true) }
      var refused = ""
      for _ in 0..<123 {
        let answer = stage.call("login", LoginStage.credentials)
        if !answer.contains("otpRequired") { refused = answer }
      }
      #expect(stage.harness.provider.logins.count == 10)
      #expect(refused.contains("rateLimited") && Self.retryAfter(refused) == 300, "\(refused)")
      #expect(stage.call("login", #"{"email":"b@example.test","password":"right"}"#).contains("otpRequired"))
      stage.wait(300)
      #expect(stage.call("login", LoginStage.credentials).contains("otpRequired"))
    }
  }

  /// Begins a login and guesses wrong until its end; how often the provider was asked.
  private static func guess(_ stage: LoginStage) throws -> (asked: Int, last: String) {
    let before = stage.harness.provider.codes.count
    let answer = stage.call("login", LoginStage.credentials)
    guard answer.contains("otpRequired") else { return (0, answer) }
    let parts = answer.split(separator: #""otpFlowId":""#, maxSplits: 1)
    let flow = try String(#require(parts.last?.split(separator: "\"").first))
    var last = ""
    for number in 1...5 {
      let refused = stage.call("verifyOtp", #"{"otpFlowId":"\#(flow)","code":"00000\#(number)"}"#)
      if refused.contains("flowNotFound") { break }
      last = refused
    }
    return (stage.harness.provider.codes.count - before, last)
  }

  @Test func `an account is guessed at so often in a day, however many logins are begun, and then it may be again`()
    async throws
  {
    try await OwnThread.run {
      let stage = try LoginStage { provider in
        provider.setWantsCode(true)
        provider.setWrongCode(.refused(.otpInvalid))
      }
      var asked = 0
      var last = ""
      for _ in 0..<96 {
        let round = try Self.guess(stage)
        asked += round.asked
        if !round.last.isEmpty { last = round.last }
        stage.wait(890)
      }
      #expect(asked == 25)
      #expect(last.contains(#""kind":"tooManyAttempts""#) && (Self.retryAfter(last) ?? 0) > 0, "\(last)")
      #expect(stage.harness.broker.assumeIsolated { $0.isBusy }, "another process would not know of them")
      stage.wait(86_400)
      #expect(try Self.guess(stage).asked == 5)
      #expect(stage.call("login", #"{"email":"b@example.test","password":"right"}"#).contains("otpRequired"))
    }
  }

  @Test func `right codes cost no guess`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setWantsCode(true) }
      for _ in 0..<40 {
        let answer = stage.call("login", LoginStage.credentials)
        let parts = answer.split(separator: #""otpFlowId":""#, maxSplits: 1)
        let flow = try String(#require(parts.last?.split(separator: "\"").first))
        #expect(stage.call("verifyOtp", #"{"otpFlowId":"\#(flow)","code":"123456"}"#).contains("authenticated"))
        stage.wait(300)
      }
    }
  }

  @Test func `a code that a trial has sent counts as that of a login`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { $0.setWantsCode(true) }
      for number in 1...10 {
        let begun = stage.call("tryProvider", LoginStage.credentials)
        let parts = begun.split(separator: #""trialId":""#, maxSplits: 1)
        let trial = try String(#require(parts.last?.split(separator: "\"").first, "\(number): \(begun)"))
        #expect(stage.call("continueTrial", #"{"trialId":"\#(trial)"}"#).contains("maskedDestination"), "\(number)")
        _ = stage.call("continueTrial", #"{"trialId":"\#(trial)","stop":true}"#)
      }
      let refused = stage.call("login", LoginStage.credentials)
      #expect(refused.contains("rateLimited") && stage.harness.provider.logins.count == 10, "\(refused)")
    }
  }

  @Test func `a registration that is refused before it is made costs no mail`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { _ in }
      let account = #"{"email":"new@example.test","password":"right"}"#
      // All logins of the connection, of other accounts.
      var number = 0
      while !stage.call("login", #"{"email":"p-\#(number)@example.test","password":"right"}"#).contains("rateLimited") {
        number += 1
      }
      for _ in 0..<20 { #expect(stage.call("register", account).contains("rateLimited")) }
      stage.wait(10)
      #expect(!stage.call("register", account).contains("rateLimited"))
    }
  }

  @Test func `what does not reach a provider costs nothing`() async throws {
    try await OwnThread.run {
      let stage = try LoginStage { _ in }
      let clients = try (0..<2).map { _ in try stage.harness.connect() }
      stage.harness.provider.hold()
      for client in clients {
        client.send((1...50).map { LoginStage.line("login", LoginStage.credentials, $0) + "\n" }.joined())
      }
      stage.harness.provider.release()
      stage.harness.settle()
      let answers: [String] = clients.flatMap { $0.lines() }
      #expect(answers.filter { $0.contains("authenticated") }.count == 100)
      for _ in 0..<500 {
        #expect(stage.call("getCurrentUser").contains("user-1"))
        #expect(stage.call("login", #"{"method":"magic"}"#).contains("invalidParams"))
        #expect(stage.call("verifyOtp", #"{"otpFlowId":"none","code":"1"}"#).contains("flowNotFound"))
      }
    }
  }

  @Test(arguments: [
    ("login", #"{"email":"a@example.test","password":"wrong"}"#, 30),
    ("getCurrentUser", #"{"maxAgeSeconds":0}"#, 60),
    ("resetPassword", #"{"token":"t","password":"p"}"#, 10),
    ("updateProfile", #"{"changes":{"name":"B"}}"#, 20),
    ("changePassword", #"{"oldPassword":"a","newPassword":"b"}"#, 20),
    ("deleteAccount", #"{"password":"p"}"#, 20),
    ("reauthenticate", #"{"password":"wrong"}"#, 29),
  ])
  func `a method that costs a call is limited`(_ method: String, _ params: String, _ most: Int) async throws {
    try await OwnThread.run {
      let stage = try LoginStage { _ in }
      _ = stage.call("login", LoginStage.credentials)
      if method != "login" { stage.harness.provider.setAccountFailure(.refused(.invalidCredentials)) }
      stage.wait(method == "reauthenticate" ? 0 : 100)
      var passed = 0
      var refused = ""
      for _ in 0..<100 {
        let answer = stage.call(method, params)
        if answer.contains("rateLimited") { refused = answer } else { passed += 1 }
      }
      #expect(passed == most, "\(refused)")
      #expect(refused.contains("The provider was not asked.") && (Self.retryAfter(refused) ?? 0) > 0, "\(refused)")
    }
  }
}
