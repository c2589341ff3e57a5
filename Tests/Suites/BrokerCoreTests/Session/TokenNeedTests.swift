import BrokerCore
import BrokerProtocol
import TestSupport
import Testing

/// For how long a caller needs a token that has just come.
@Suite(.standardTimeLimit) struct TokenNeedTests {
  @Test func `a token that was just saved serves a caller only for as long as they need it`() {
    var script = SessionScript(SessionRules(), nil)
    let wanted = TokenDemand(waiter: CallerID(1), minValidity: .seconds(600), waitsForLogin: true)
    let short = TokenDemand(waiter: CallerID(2), minValidity: .seconds(100), waitsForLogin: true)
    #expect(script.play(.tokenWanted(wanted)).isEmpty)
    #expect(script.play(.tokenWanted(short)).isEmpty)
    let asked = script.now
    // The login was answered late: most of the token's life is over.
    script.pass(500)
    let session = ProviderSession(tokens: ScriptedProvider.tokens(1, now: asked.wall), user: nil)
    #expect(
      script.play(.loginAccepted(session, method: "browser", sentAt: asked)) == [
        "save living 1 announcing login", "token 2", "spend 1 refresh-1",
      ])
    #expect(script.succeed(1).last == "token 1")
  }
}
