import BrokerCore
import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// Rules by which the owner is asked before a token is given: over the whole server.
@Suite(.standardTimeLimit) struct ConsentTests {
  @Test func `fifty askers of one agent are one question, and one answer is for all of them`() async throws {
    try await OwnThread.run {
      let stage = try ConsentStage()
      let refreshes = stage.harness.provider.spentTokens.count
      let clients = try (0..<50).map { _ in try stage.command() }
      #expect(clients.allSatisfy { stage.want($0, #"{"forceRefresh":true}"#).isEmpty })
      let events = stage.owner.lines().filter { $0.contains(#""event":"consentRequested""#) }
      #expect(events.count == 1 && stage.questions.count == 1)
      for part in [
        #""profile":"default""#, #""method":"getAccessToken""#, #""command":"git""#, #""command":"agent""#,
        #""confirm":"once""#, #""grants":{"subject":"ancestor","pid":50,"rememberSeconds":600}"#,
      ] { #expect(events.joined().contains(part), "\(part): \(events)") }
      #expect(stage.call("listConsents").contains(#""requests":50"#))
      // Nothing was fetched before.
      #expect(stage.harness.provider.spentTokens.count == refreshes)
      #expect(stage.answer(true).contains(#""result":{}"#))
      #expect(clients.allSatisfy { $0.lines().joined().contains(#""accessToken""#) })
      #expect(stage.harness.provider.spentTokens.count == refreshes + 1)
      #expect(stage.harness.decisions.all.map(\.outcome.word) == ["allowed"])
      // Those that come later are answered at once, and another agent is asked about.
      #expect(stage.want(try stage.command()).contains(#""accessToken""#))
      #expect(stage.want(try stage.command(of: 70)).isEmpty)
    }
  }

  @Test func `the asker sees no question, answers none, and hears of none`() async throws {
    try await OwnThread.run {
      let stage = try ConsentStage()
      let asker = try stage.command()
      _ = asker.askBare(LoginStage.line("subscribe", "{}", 1))
      let sequence = asker.askBare(LoginStage.line("subscribe", "{}", 2)).joined()
      #expect(stage.want(asker).isEmpty)
      let id = try #require(stage.questions.first)
      for (method, params) in [
        ("listConsents", "{}"), ("answerConsent", #"{"consentId":"\#(id)","allow":true}"#),
        ("subscribe", #"{"events":["consentRequested"]}"#),
      ] {
        let answer = asker.askBare(LoginStage.line(method, params, 3)).joined()
        #expect(answer.contains("accessDenied") != (method == "subscribe"), "\(method): \(answer)")
        #expect(!answer.contains(id))
      }
      let other = try stage.command(of: 70)
      #expect(stage.want(other).isEmpty)
      #expect(asker.lines().isEmpty && !sequence.contains("consent"))
      #expect(stage.questions.count == 2)
      // Another event has the next number of its count: nothing was left out.
      _ = stage.call("logout", #"{"profile":"default"}"#)
      #expect(asker.lines().joined().contains(#""sequence":1,"event":"logout""#))
    }
  }

  @Test func `an answerer that dies leaves the question to another, and the first answer holds`() async throws {
    try await OwnThread.run {
      let stage = try ConsentStage()
      let asker = try stage.command()
      #expect(stage.want(asker).isEmpty)
      let id = try #require(stage.questions.first)
      let dead = try stage.harness.connect()
      dead.prove()
      _ = dead.askBare(LoginStage.line("listConsents", "{}"))
      dead.close()
      #expect(asker.lines().isEmpty)
      #expect(stage.answer(true).contains(#""result":{}"#))
      #expect(asker.lines().joined().contains(#""accessToken""#))
      let late = stage.call("answerConsent", #"{"consentId":"\#(id)","allow":false}"#)
      #expect(late.contains(#""kind":"flowNotFound""#), "\(late)")
    }
  }

  @Test func `who is refused learns no more than that, whatever the reason and the state of the session`() async throws
  {
    try await OwnThread.run {
      let stage = try ConsentStage()
      func refusal(_ ending: () -> Void) throws -> String {
        let asker = try stage.command()
        #expect(stage.want(asker).isEmpty)
        ending()
        let answer = asker.lines().joined()
        #expect(answer.contains(#""code":1082"#) && answer.contains(#""nextAction":"askOwner""#), "\(answer)")
        return answer.split(separator: #","correlationId""#).first.map(String.init) ?? answer
      }
      let byOwner = try refusal { _ = stage.answer(false, #","rememberSeconds":0"#) }
      let byTime = try refusal { stage.wait(20) }
      _ = stage.call("logout", #"{"profile":"default"}"#)
      let signedOut = try refusal { _ = stage.answer(false) }
      let remembered = stage.want(try stage.command())
      #expect(byOwner == byTime && byOwner == signedOut && remembered.hasPrefix(byOwner))
      #expect(stage.harness.decisions.all.map(\.outcome.word) == ["refused", "unanswered", "refused"])
      stage.wait(60)
      #expect(stage.want(try stage.command()).isEmpty)
    }
  }

  @Test(arguments: ["getAccessToken", "reportRejected", "getIdToken", "createProof"])
  func `every method that gives a token asks, and does nothing before the answer`(_ method: String) async throws {
    try await OwnThread.run {
      let stage = try ConsentStage(.always) { provider in
        if method == "createProof" { provider.setKey(ProofKey(der: ScriptedProvider.secret("key"))) }
      }
      let watcher = try stage.harness.connect()
      watcher.prove()
      _ = watcher.askBare(LoginStage.line("subscribe", "{}"))
      let refreshes = stage.harness.provider.spentTokens.count
      let params =
        switch method {
        case "reportRejected": #"{"tokenId":"id-1","status":401}"#
        case "createProof": #"{"tokenId":"id-1","method":"GET","url":"https://a.example/"}"#
        default: "{}"
        }
      let asker = try stage.command()
      #expect(asker.askBare(LoginStage.line(method, params)).isEmpty)
      let told = watcher.lines().joined()
      #expect(told.contains("consentRequested") && !told.contains("unauthorized") && !told.contains("tokenRefreshed"))
      #expect(stage.harness.provider.spentTokens.count == refreshes)
      #expect(stage.answer(true).contains(#""result":{}"#))
      let answer = asker.lines().joined()
      #expect(
        answer.contains(["getIdToken": #""idToken""#, "createProof": #""proof""#][method] ?? #""accessToken""#),
        "\(answer)")
      // What is always asked is asked again, of the same process too.
      #expect(asker.askBare(LoginStage.line(method, params)).isEmpty)
    }
  }

  @Test func `the time of a call rests while its question waits`() async throws {
    try await OwnThread.run {
      let stage = try ConsentStage()
      let asker = try stage.command()
      stage.harness.provider.hold()
      #expect(stage.want(asker, #"{"forceRefresh":true,"timeoutSeconds":5}"#).isEmpty)
      stage.wait(15)
      #expect(asker.lines().isEmpty)
      _ = stage.answer(true)
      stage.wait(4)
      #expect(asker.lines().isEmpty)
      stage.wait(1)
      #expect(asker.lines().joined().contains("deadlineExceeded"))
      stage.harness.provider.release()
    }
  }

  @Test func `a clock that is set changes nothing, and a suspended machine's time counts`() async throws {
    try await OwnThread.run {
      let stage = try ConsentStage()
      let asker = try stage.command()
      #expect(stage.want(asker).isEmpty)
      for hours in [-48, 96] {
        stage.harness.clock.set(by: .seconds(hours * 3600))
        stage.harness.settle()
        #expect(asker.lines().isEmpty && stage.questions.count == 1)
      }
      // The machine has just woken, and no timer was called yet: the answer is too late.
      let id = try #require(stage.questions.first)
      stage.harness.clock.sleep(for: .seconds(3600))
      let late = stage.call("answerConsent", #"{"consentId":"\#(id)","allow":true}"#)
      #expect(late.contains("flowNotFound"), "\(late)")
      #expect(asker.lines().joined().contains("consentDenied"))
      #expect(stage.want(asker).isEmpty)
      _ = stage.answer(true)
      #expect(asker.lines().joined().contains(#""accessToken""#))
      stage.harness.clock.set(by: .seconds(-7 * 86400))
      stage.harness.settle()
      #expect(stage.want(asker).contains(#""accessToken""#))
      stage.harness.clock.suspend(for: .seconds(600))
      stage.harness.settle()
      #expect(stage.want(asker).isEmpty, "it was not used for ten minutes, of whatever kind")
    }
  }

  @Test func `a forwarded socket is asked about each time, and for its process alone`() async throws {
    try await OwnThread.run {
      let shop = AccessPolicy.Ceiling(profiles: ["default"].compactMap(ProfileName.init), Allowance())
      var remembering = shop
      remembering.remembersForwarded = true
      let stage = try ConsentStage(sockets: ["far": shop, "near": remembering])
      // A command beside the ssh, with a consent for the agent that started both.
      #expect(stage.want(try stage.command()).isEmpty)
      _ = stage.answer(true, #","subject":"ancestor","ancestor":50"#)
      let ssh = try stage.command("ssh", as: "far")
      for _ in 0..<2 {
        #expect(stage.want(ssh).isEmpty)
        let list = stage.call("listConsents")
        #expect(list.contains(#""forwarded":true"#) && list.contains(#""subject":"process""#), "\(list)")
        for subject in ["ancestor", "unit", "socket"] {
          let answer = stage.answer(true, #","subject":"\#(subject)""#)
          #expect(answer.contains(#""pointer":"/subject""#), "\(answer)")
        }
        #expect(stage.answer(true).contains(#""result":{}"#))
        #expect(ssh.lines().joined().contains(#""accessToken""#))
      }
      let kept = try stage.command("ssh", as: "near")
      #expect(stage.want(kept).isEmpty)
      _ = stage.answer(true)
      _ = kept.lines()
      #expect(stage.want(kept).contains(#""accessToken""#))
    }
  }
}
