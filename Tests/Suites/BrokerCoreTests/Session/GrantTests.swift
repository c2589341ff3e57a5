import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// Profiles whose tokens are issued for those of other profiles.
@Suite(.standardTimeLimit) struct GrantTests {
  private static let exchange = ProfileName("exchange") ?? .default
  private static let last = ProfileName("last") ?? .default

  /// A broker whose second profile exchanges the token of the first, and whose third that of the second.
  private final class Providers {
    var all: [ProfileName: ScriptedProvider] = [:]
  }

  private func stage(_ kind: BoundToken.Kind = .bearer, isAssertion: Bool = false) -> (
    stage: BrokerStage, providers: Providers
  ) {
    let providers = Providers()
    let stage = BrokerStage([Self.exchange, Self.last]) { name, provider in
      providers.all[name] = provider
      let isFirst = name == Self.exchange
      let subject = SubjectReference(isFirst ? .default : Self.exchange, isAssertion: !isFirst && isAssertion)
      provider.grants(for: [subject], isFirst ? kind : .bearer)
    }
    return (stage, providers)
  }

  private func shown(_ providers: Providers, _ name: ProfileName) -> [[String]] { providers.all[name]?.shown ?? [] }

  @Test func `the first caller begins the whole chain`() {
    let (stage, providers) = stage()
    let early = stage.token(of: Self.last)
    #expect(stage.answers(to: early) == ["loginRequired"], "the first profile is a person's")
    #expect(stage.state(of: Self.exchange) == .signedOut && stage.state(of: Self.last) == .signedOut)
    _ = stage.logIn()
    let caller = stage.token(of: Self.last)
    #expect(stage.answers(to: caller) == ["token"])
    #expect(shown(providers, Self.exchange) == [["access-1"]] && shown(providers, Self.last) == [["access-1"]])
    #expect(stage.state(of: Self.exchange) == .authenticated && stage.state(of: Self.last) == .authenticated)
    #expect(stage.answers(to: stage.token(of: Self.last)) == ["token"])
    #expect(shown(providers, Self.last).count == 1, "it is kept")
  }

  @Test(arguments: [false, true]) func `who waits for a login has the token after it`(_ isAssertion: Bool) {
    let (stage, providers) = stage(isAssertion ? .subject : .bearer, isAssertion: isAssertion)
    func wait() -> CallerID { stage.token(GetAccessToken.Params(profile: Self.last, waitForLogin: true)) }
    let (first, second) = (wait(), wait())
    #expect(stage.answers(to: stage.token(of: Self.last)) == ["loginRequired"], "a caller that does not wait")
    #expect(stage.answers(to: first).isEmpty && stage.answers(to: second).isEmpty)
    stage.clock.advance(by: .seconds(10))
    stage.turn()
    #expect(shown(providers, Self.exchange).isEmpty && shown(providers, Self.last).isEmpty)
    _ = stage.logIn()
    #expect(stage.answers(to: first) == ["token"] && stage.answers(to: second) == ["token"])
    #expect(shown(providers, Self.last).count == 1)
    // The end of the session makes no difference to who waits from then on.
    _ = stage.logOut(of: .default)
    let third = wait()
    #expect(stage.answers(to: third).isEmpty)
    _ = stage.logIn()
    #expect(stage.answers(to: third) == ["token"])
  }

  @Test func `who wants a token or a login is told which profile needs a login`() {
    let (stage, _) = stage()
    func told(_ caller: CallerID) -> String {
      stage.errors(to: caller).map { "\($0.kind) \($0.profile?.description ?? "") \($0.nextAction): \($0.message)" }
        .joined()
    }
    func login() -> String {
      let params = Login.Params(profile: Self.last)
      return told(stage.ask { broker, caller throws(BrokerError) in try broker.login(params, caller) })
    }
    #expect(
      told(stage.token(GetAccessToken.Params(profile: Self.last)))
        == "loginRequired default login: The tokens of last are issued for those of default, which needs a login.")
    #expect(
      login()
        == "unsupportedByProvider default login: No login is made on this profile: its tokens are issued for those of default, "
        + "which needs a login.")
    _ = stage.logIn()
    #expect(
      login()
        == "unsupportedByProvider last fixRequest: This profile needs no login: its tokens are requested by the grant "
        + "exchange.")
  }

  @Test func `no token outlives its subject's`() {
    let (stage, providers) = stage()
    _ = stage.logIn()
    stage.clock.advance(by: .seconds(600))
    stage.turn()
    let caller = stage.token(of: Self.exchange)
    // The subject's has 300 of its 900 seconds left.
    let end = stage.clock.now + .seconds(300)
    #expect(stage.tokens(to: caller).first?.contains("\"expiresAt\":\"\(end)\"") == true)
    #expect(shown(providers, Self.exchange) == [["access-1"]])
  }

  @Test func `another token of the subject makes another one, and its end is the end of all`() {
    let (stage, providers) = stage()
    _ = stage.logIn()
    _ = stage.token(of: Self.last)
    _ = stage.token(GetAccessToken.Params(profile: .default, forceRefresh: true))
    #expect(stage.answers(to: stage.token(of: Self.last)) == ["token"])
    #expect(shown(providers, Self.exchange) == [["access-1"], ["access-2"]])
    #expect(shown(providers, Self.last).count == 2)
    #expect(stage.answers(to: stage.logOut(of: .default)).count == 1)
    #expect(stage.state(of: Self.exchange) == .signedOut && stage.state(of: Self.last) == .signedOut)
    #expect(stage.answers(to: stage.token(of: Self.last)) == ["loginRequired"])
  }

  @Test func `an assertion is shown once, and what came for it lives on without it`() {
    let (stage, providers) = stage(.subject, isAssertion: true)
    _ = stage.logIn()
    _ = stage.token(of: Self.last)
    #expect(shown(providers, Self.last) == [["access-1"]])
    _ = stage.token(GetAccessToken.Params(profile: .default, forceRefresh: true))
    _ = stage.token(of: Self.last)
    #expect(shown(providers, Self.last).count == 1, "it is not outdated by another assertion")
    let forced = stage.token(GetAccessToken.Params(profile: Self.last, forceRefresh: true))
    #expect(stage.answers(to: forced) == ["token"])
    #expect(shown(providers, Self.last) == [["access-1"], ["access-2"]])
    _ = stage.logOut(of: .default)
    #expect(stage.state(of: Self.last) == .signedOut)
  }

  @Test func `what no server takes is not renewed for nothing`() {
    let (stage, providers) = stage(.subject, isAssertion: true)
    _ = stage.logIn()
    #expect(stage.answers(to: stage.token(of: Self.exchange)) == ["providerRejected"])
    stage.clock.advance(by: .seconds(1800))
    stage.turn()
    #expect(shown(providers, Self.exchange).count == 1)
  }

  @Test func `a token that is only a subject is given to no client, and to the profile that names it`() {
    let (stage, providers) = stage(.subject)
    _ = stage.logIn()
    #expect(stage.answers(to: stage.token(of: Self.exchange)) == ["providerRejected"])
    #expect(stage.answers(to: stage.token(of: Self.last)) == ["token"])
    #expect(shown(providers, Self.last) == [["access-1"]])
    #expect(stage.answers(to: stage.token(of: Self.exchange)) == ["providerRejected"])
  }
}
