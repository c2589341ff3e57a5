import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// Sessions whose token is a secret of the configuration: when its source is asked, and what a report changes.
@Suite(.standardTimeLimit) struct ConfiguredSecretTests {
  /// A machine whose first caller has read the first secret.
  private static func reading() -> SessionScript {
    var script = SessionScript(SessionRules(), nil)
    script.machine.isUnattended = true
    script.machine.isConfigured = true
    return script
  }

  private static func read() -> SessionScript {
    var script = reading()
    _ = script.want(1) + script.play(fetched(1, script))
    return script
  }

  /// The secret with a number, as its source gives it.
  private static func secret(_ number: Int) -> TokenSet {
    TokenSet(
      accessToken: ScriptedProvider.secret("access-\(number)"), accessTokenExpiresAt: nil,
      refreshToken: ScriptedProvider.secret("static"))
  }

  private static func fetched(_ flight: UInt64, _ script: SessionScript, _ number: Int = 1) -> SessionMachine.Event {
    .firstFetched(flight: flight, secret(number), grant: "static", sentAt: script.now)
  }

  private func give(_ number: Int, to flight: UInt64, _ script: inout SessionScript) -> [String] {
    script.play(.refreshSucceeded(flight: flight, Self.secret(number), sentAt: script.now.wall))
  }

  @Test func `the first caller has the source asked, and no clock does`() {
    var script = Self.reading()
    #expect(script.want(1) == ["request 1"] && script.want(2) == [])
    #expect(script.play(Self.fetched(1, script)) == ["save living 1 announcing login", "token 1", "token 2"])
    #expect(script.stored?.isKept == false, "nothing of it is written down")
    #expect(script.nextWake == nil)
    script.pass(10_000_000)
    #expect(script.play(.woken) == [] && script.want(3) == ["token 3"])
  }

  @Test func `the same secret after a report is an error for the reporter alone`() {
    var script = Self.read()
    #expect(script.want(2, refused: true) == ["spend 1 static"], "no intent is written")
    #expect(script.want(3) == ["token 3"], "a report takes nothing from others")
    #expect(give(1, to: 1, &script) == ["error 2 missingCredential"])
    #expect(script.want(4) == ["token 4"])
    #expect(script.want(5, refused: true) == ["error 5 missingCredential"], "the source was asked just now")
  }

  @Test
  func `after a refusal the next caller has the source asked once more, as someone may have put another secret there`()
  {
    var script = Self.read()
    _ = script.want(2, refused: true) + give(1, to: 1, &script)
    #expect(script.machine.mustSeeNextUse)
    script.pass(10)
    #expect(script.want(3) == ["spend 2 static"] && script.want(4) == [])
    #expect(give(1, to: 2, &script) == ["token 3", "token 4"])
    #expect(script.want(5) == ["token 5"] && !script.machine.mustSeeNextUse)
    script.pass(10)
    #expect(script.want(6) == ["token 6"])
  }

  @Test func `another secret after a report is the new token, and is told`() {
    var script = Self.read()
    #expect(script.want(2, refused: true) == ["spend 1 static"])
    #expect(give(2, to: 1, &script) == ["save living 2 announcing tokenRefreshed", "token 2"])
    #expect(
      script.want(3) == ["token 3"] && script.machine.living?.tokens.accessToken.value.revealedString() == "access-2")
  }

  @Test func `where the source fails after a report, the others keep what they have`() {
    var script = Self.read()
    let failure = ProviderFailure.credentialMissing(MissingCredential("secret in the file /k", "there is no such file"))
    _ = script.want(2, refused: true)
    #expect(script.fail(1, failure) == ["error 2 missingCredential", "publish refreshFailed"])
    #expect(script.want(3) == ["offline token 3"])
    #expect(script.nextWake == nil, "no clock has the program run again")
  }

  @Test func `a reload has the secret read at once, and nobody gets an older one after it`() {
    var script = Self.read()
    #expect(script.play(.rulesChanged(SessionRules())) == ["spend 1 static"])
    #expect(script.want(2) == [])
    #expect(give(2, to: 1, &script) == ["save living 2 announcing tokenRefreshed", "token 2"])
    #expect(script.play(.rulesChanged(SessionRules())) == ["spend 2 static"])
    #expect(give(2, to: 2, &script) == [], "the same one is no event")
    #expect(script.want(3) == ["token 3"])
  }

  @Test func `what was begun to be read before a reload is read again`() {
    var script = Self.reading()
    #expect(script.want(1) == ["request 1"])
    #expect(script.play(.rulesChanged(SessionRules())) == [])
    #expect(script.want(2) == [])
    #expect(script.play(Self.fetched(1, script)) == ["request 2"])
    #expect(script.play(Self.fetched(2, script, 2)) == ["save living 1 announcing login", "token 1", "token 2"])
    #expect(script.want(3, force: true) == ["spend 1 static"])
    #expect(script.play(.rulesChanged(SessionRules())) == [] && script.want(4) == [])
    #expect(give(3, to: 1, &script) == ["spend 2 static"])
    #expect(give(4, to: 2, &script) == ["save living 2 announcing tokenRefreshed", "token 3", "token 4"])
  }

  @Test func `a failure of an older read is told, and the next caller has the source asked at once`() {
    var script = Self.read()
    _ = script.want(2, force: true) + script.play(.rulesChanged(SessionRules()))
    let failure = ProviderFailure.credentialMissing(MissingCredential("secret in the file /k", "it is empty"))
    #expect(script.fail(1, failure).first == "error 2 missingCredential")
    #expect(script.want(3) == ["spend 2 static"])
    var first = Self.reading()
    _ = first.want(1) + first.play(.rulesChanged(SessionRules()))
    #expect(first.play(.firstFailed(flight: 1, failure)) == ["request 2"])
    #expect(first.play(Self.fetched(2, first)) == ["save living 1 announcing login", "token 1"])
  }

  @Test func `a forced refresh asks the source, and the same secret is its answer`() {
    var script = Self.read()
    #expect(script.want(2, force: true) == ["spend 1 static"])
    #expect(give(1, to: 1, &script) == ["token 2"])
  }

  @Test func `the session of another provider that rests under the profile's name is ended in the store`() {
    var script = Self.reading()
    var other = SessionScript.record()
    other.binding = ProviderBinding(type: "other")
    #expect(script.play(.restored(other, intent: nil)) == ["save signedOut 8 announcing logout"])
    #expect(script.stored?.isKept == true)
    #expect(script.want(1) == ["request 1"])
    for contents: SessionRecord.Contents in [
      .ended(.refreshRejected, at: script.now.wall),
      .reauthenticationRequired(at: script.now.wall),
    ] {
      var ended = Self.reading()
      var record = other
      record.contents = contents
      #expect(ended.play(.restored(record, intent: nil)) == [])
      guard case .signedOut = ended.machine.phase else {
        Issue.record("the end of another provider's session is shown")
        continue
      }
      #expect(ended.want(1) == ["request 1"])
    }
  }

  @Test func `other scopes and another audience are not to be had`() {
    var script = Self.read()
    let target = TokenTarget(scopes: ["a"])
    #expect(script.want(2, target, isGivable: false) == ["error 2 insufficientScope"])
    var first = Self.reading()
    _ = first.want(1, target, isGivable: false)
    #expect(first.play(Self.fetched(1, first)).last == "error 1 insufficientScope")
  }
}
