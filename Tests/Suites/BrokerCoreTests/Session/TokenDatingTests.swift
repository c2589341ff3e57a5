import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import BrokerCore

/// Tokens that outlive the process: how old they are when it starts again, whatever the clocks say.
@Suite(.standardTimeLimit) struct TokenDatingTests {
  private static let hours2 = 7200

  /// A session that was begun in one start of the machine, by a clock that was so many seconds ahead.
  private func script(ahead: Int = 0, providerAhead: Int? = nil, refreshable: Bool = true) -> SessionScript {
    var script = SessionScript(SessionRules(), nil)
    script.boot = "first"
    _ = script.restart()
    script.setClock(by: ahead)
    var tokens = ScriptedProvider.tokens(1, now: script.now.wall)
    if !refreshable { tokens.refreshToken = nil }
    tokens.clockSkew = providerAhead.map { .seconds($0) }
    _ = script.restart()
    _ = script.play(.loginAccepted(ProviderSession(tokens: tokens, user: nil), method: "password"))
    return script
  }

  /// The machine is started again, and takes so long.
  private func reboot(_ script: inout SessionScript, _ seconds: Int = 60) {
    script.pass(seconds)
    script.now.uptime = .seconds(20)
    script.boot = "second"
  }

  @Test(arguments: [-7200, -600, 0, 600, 7200])
  func `a start of the broker alone changes nothing, however the clock was set`(_ step: Int) {
    for refreshable in [true, false] {
      var script = script(refreshable: refreshable)
      script.pass(100)
      script.setClock(by: step)
      #expect(script.restart().isEmpty)
      #expect(script.machine.accessTokenEnd?.rest(at: script.now) == .seconds(800))
      #expect(script.want(1) == ["token 1"])
      script.pass(790)
      #expect(script.want(2) == (refreshable ? ["spend 1 refresh-1"] : ["token 2"]))
      script.pass(10)
      let end = refreshable ? [] : ["publish sessionExpired", "error 3 sessionExpired"]
      #expect(script.want(3) == end)
    }
  }

  @Test func `what clients are told of the end is by the present clock`() {
    var script = script(ahead: Self.hours2)
    script.setClock(by: -Self.hours2)
    _ = script.play(.clockWasSet)
    let end = script.now.wall + .seconds(900)
    #expect(script.machine.shown(script.machine.living?.tokens.accessTokenExpiresAt) == end)
    _ = script.restart()
    #expect(script.machine.shown(script.machine.living?.tokens.accessTokenExpiresAt) == end)
  }

  @Test func `after a start of the machine a right clock is believed`() {
    var script = script()
    reboot(&script)
    #expect(script.restart().isEmpty)
    #expect(script.want(1) == ["token 1"])
    #expect(script.machine.accessTokenEnd?.rest(at: script.now) == .seconds(840))
  }

  @Test func `a clock that is ahead at the start ends nothing: the provider is asked`() {
    var script = script()
    reboot(&script)
    script.setClock(by: 48 * 3600)
    #expect(script.restart().isEmpty)
    #expect(script.want(1) == ["spend 1 refresh-1"])
    #expect(script.succeed(1).last == "token 1")
    guard case .living? = script.stored?.contents else {
      Issue.record("the session has ended")
      return
    }
  }

  @Test func `a token that a clock ahead has dated is not served when the clock is right again`() {
    // The clock says that it was issued in the future.
    var unknown = script(ahead: Self.hours2)
    reboot(&unknown)
    unknown.setClock(by: -Self.hours2)
    _ = unknown.restart()
    #expect(unknown.want(1) == ["spend 1 refresh-1"])
    // By the clock it is ten minutes old; the reply that brought it told otherwise.
    var told = script(ahead: Self.hours2, providerAhead: -Self.hours2)
    reboot(&told, Self.hours2 + 600)
    told.setClock(by: -Self.hours2)
    _ = told.restart()
    #expect(told.want(1) == ["spend 1 refresh-1"])
    #expect(told.fail(1, .transient(.networkUnavailable)).first == "error 1 networkUnavailable")
  }

  @Test func `a clock that stands still while the machine is off makes no token younger than it can be`() {
    var script = script()
    reboot(&script)
    _ = script.restart()
    script.setClock(by: -60)
    script.pass(890)
    #expect(script.want(1) == ["spend 1 refresh-1"])
  }

  @Test func `a token that cannot be refreshed comes back with the right time`() {
    var script = script(refreshable: false)
    reboot(&script)
    script.setClock(by: Self.hours2)
    _ = script.restart()
    #expect(script.want(1) == ["publish sessionExpired", "error 1 sessionExpired"])
    script.setClock(by: -Self.hours2)
    #expect(script.play(.clockWasSet) == ["publish tokenRefreshed"])
    #expect(script.want(2) == ["token 2"])
  }

  @Test func `what two others say of the clock counts, in both directions`() {
    var ahead = script(refreshable: false)
    reboot(&ahead)
    ahead.setClock(by: Self.hours2)
    _ = ahead.restart()
    #expect(ahead.play(.clockJudged(.seconds(-Self.hours2))).isEmpty)
    #expect(ahead.want(1) == ["token 1"])
    var behind = script()
    reboot(&behind, 1000)
    behind.setClock(by: -990)
    _ = behind.restart()
    #expect(behind.want(1) == ["token 1"])
    #expect(behind.play(.clockJudged(.seconds(990))) == ["spend 1 refresh-1"])
  }

  @Test func `two sources must agree within a minute`() {
    var sources = ClockSources()
    let (a, b) = (ProviderBinding(type: "oidc", issuer: "a"), ProviderBinding(type: "oidc", issuer: "b"))
    #expect(sources.note(.seconds(7200), from: .replies(a)) == false)
    #expect(sources.note(.seconds(7200), from: .replies(a)) == false)
    #expect(sources.note(.seconds(7100), from: .replies(b)) == false)
    #expect(sources.verdict == nil)
    #expect(sources.note(.seconds(7150), from: .tokens(a)) == true)
    #expect(sources.verdict == .seconds(7150))
    #expect(sources.note(.seconds(7160), from: .replies(b)) == false)
    #expect(sources.verdict == .seconds(7150))
    sources.forget()
    #expect(sources.verdict == nil)
  }
}
