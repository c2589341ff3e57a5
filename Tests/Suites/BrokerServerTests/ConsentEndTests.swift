import BrokerCore
import BrokerProtocol
import BrokerServer
import TestSupport
import Testing

/// The ends of questions and consents, and what a reload changes of those that wait: over the whole server.
@Suite(.standardTimeLimit) struct ConsentEndTests {
  @Test func `the lock ends questions and consents, and a token is asked about again after the unlocking`() async throws
  {
    try await OwnThread.run {
      let stage = try ConsentStage()
      let asker = try stage.command()
      #expect(stage.want(asker).isEmpty)
      _ = stage.answer(true)
      #expect(asker.lines().joined().contains(#""accessToken""#))
      // From the cache, by the consent.
      #expect(stage.want(asker).contains(#""accessToken""#))
      let other = try stage.command(of: 70)
      #expect(stage.want(other).isEmpty)
      _ = stage.call("lock")
      #expect(other.lines().joined().contains(#""kind":"vaultLocked""#))
      _ = stage.call("unlock")
      #expect(stage.questions.isEmpty)
      #expect(stage.want(asker).isEmpty)
      #expect(stage.harness.decisions.all.map(\.outcome.word) == ["allowed", "withdrawn"])
    }
  }

  @Test func `a reload holds at once for requests that wait for an answer, and for those that wait for a token`()
    async throws
  {
    try await OwnThread.run {
      let stage = try ConsentStage()
      let asker = try stage.command()
      #expect(stage.want(asker).isEmpty)
      let before = stage.questions
      stage.set(.once)
      #expect(stage.questions == before, "the same rule leaves the question")
      stage.set(.never)
      #expect(asker.lines().joined().contains(#""accessToken""#) && stage.questions.isEmpty)
      stage.harness.provider.hold()
      let waiting = try stage.command()
      #expect(stage.want(waiting, #"{"forceRefresh":true}"#).isEmpty)
      stage.set(.once)
      #expect(waiting.lines().joined().contains(#""kind":"consentDenied""#))
      stage.harness.provider.release()
      stage.harness.settle()
      #expect(stage.want(asker).isEmpty, "what was in the cache is asked about, too")
    }
  }

  @Test(arguments: [true, false])
  func `a request that has waited for a login is asked about again, unless a consent for its client lives`(
    _ isRemembered: Bool
  ) async throws {
    try await OwnThread.run {
      let stage = try ConsentStage(isRemembered ? .once : .always)
      _ = stage.call("logout", #"{"profile":"default"}"#)
      let asker = try stage.command()
      #expect(stage.want(asker, #"{"waitForLogin":true,"timeoutSeconds":3600}"#).isEmpty)
      _ = stage.answer(true, #","rememberSeconds":600"#)
      #expect(asker.lines().isEmpty && stage.questions.isEmpty, "it waits for the login")
      let brief = try stage.command(of: 70)
      #expect(stage.want(brief, #"{"waitForLogin":true,"timeoutSeconds":3600}"#).isEmpty)
      _ = stage.answer(true, #","rememberSeconds":1"#)
      stage.wait(2)
      _ = stage.call("login", #"{"profile":"default","email":"b@example.test","password":"right"}"#)
      #expect(asker.lines().joined().contains(#""accessToken""#) == isRemembered)
      #expect(brief.lines().isEmpty && stage.questions.count == (isRemembered ? 1 : 2))
      while !stage.questions.isEmpty { _ = stage.answer(true) }
      #expect(brief.lines().joined().contains(#""accessToken""#))
    }
  }

  @Test func `a consent to one session's token is none to that of a login while the question waits`() async throws {
    try await OwnThread.run {
      let stage = try ConsentStage(.always)
      let asker = try stage.command()
      #expect(stage.want(asker).isEmpty)
      _ = stage.call("logout", #"{"profile":"default"}"#)
      _ = stage.call("login", #"{"profile":"default","email":"b@example.test","password":"right"}"#)
      _ = stage.answer(true)
      #expect(asker.lines().isEmpty && stage.questions.count == 1)
      _ = stage.answer(false)
      #expect(asker.lines().joined().contains(#""kind":"consentDenied""#))
    }
  }

  @Test func `questions that are left keep their places until their time is over`() async throws {
    try await OwnThread.run {
      let stage = try ConsentStage()
      let most = Limits()[.consents] / 2
      for agent in 0..<Int32(most) {
        let asker = try stage.command(of: 1000 + agent)
        #expect(stage.want(asker).isEmpty)
        asker.close()
      }
      let late = try stage.command(of: 70)
      #expect(stage.want(late).contains(#""kind":"consentDenied""#))
      stage.wait(21)
      let later = try stage.command(of: 71)
      #expect(stage.want(later).isEmpty && stage.questions.count == 1)
    }
  }

  @Test func `a question ends with its last request, cancelled or closed`() async throws {
    try await OwnThread.run {
      let stage = try ConsentStage()
      let (one, other) = (try stage.command(), try stage.command())
      #expect(stage.want(one).isEmpty && stage.want(other).isEmpty)
      one.close()
      #expect(stage.questions.count == 1)
      let cancelled = other.askBare(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9}}"#).joined()
      #expect(cancelled.contains("-32800") && stage.questions.isEmpty)
      #expect(stage.harness.decisions.all.map(\.outcome.word) == ["left"])
    }
  }

  @Test func `an answer names a subject that the question has, and a time that is none too long`() async throws {
    try await OwnThread.run {
      let stage = try ConsentStage()
      let asker = try stage.command()
      #expect(stage.want(asker).isEmpty)
      for (more, pointer) in [
        (#","subject":"unit""#, "/subject"), (#","subject":"everything""#, "/subject"),
        (#","ancestor":99"#, "/ancestor"), (#","rememberSeconds":43201"#, "/rememberSeconds"),
      ] {
        let answer = stage.answer(true, more)
        #expect(
          answer.contains(#""kind":"invalidParams""#) && answer.contains(#""pointer":"\#(pointer)""#), "\(answer)")
      }
      #expect(asker.lines().isEmpty && stage.questions.count == 1)
      #expect(stage.answer(true, #","ancestor":20"#).contains(#""result":{}"#))
      // All that the shell starts, and so the other agent, has it.
      #expect(stage.want(try stage.command(of: 70)).contains(#""accessToken""#))
      let outcome = stage.harness.decisions.all.first?.outcome
      guard case .allowed(.ancestor(let id), let remember) = outcome else {
        Issue.record("\(String(describing: outcome))")
        return
      }
      #expect(id.pid == 20 && remember == .seconds(600))
    }
  }

  @Test func `a client whose process is not known is asked about for its connection`() async throws {
    try await OwnThread.run {
      let stage = try ConsentStage()
      let asker = try stage.harness.connect()
      #expect(stage.want(asker).isEmpty)
      #expect(stage.call("listConsents").contains(#""chain":[]},"confirm":"once","grants":{"subject":"process","rem"#))
      _ = stage.answer(true)
      #expect(asker.lines().joined().contains(#""accessToken""#))
      #expect(stage.want(asker).contains(#""accessToken""#))
      #expect(stage.want(try stage.harness.connect()).isEmpty, "another connection is another subject")
    }
  }
}
