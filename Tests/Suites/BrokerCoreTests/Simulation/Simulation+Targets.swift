import BrokerCore
import BrokerProtocol
import TestSupport

/// Clients that want tokens for other scopes, or another audience, than the session's own.
extension Simulation {
  /// What clients ask for; every session is good for `read`.
  private static let targets = [
    TokenTarget(audience: "a"), TokenTarget(audience: "b"), TokenTarget(scopes: ["write"]),
    TokenTarget(scopes: ["read", "write"], audience: "a"), TokenTarget(scopes: ["read"]),
    TokenTarget(audience: "denied"), TokenTarget(audience: "consent"), TokenTarget(audience: "doubtful"),
  ]

  /// A target that is not the session's own; nil for one that is.
  func otherTarget(_ target: TokenTarget) -> TokenTarget? {
    target.audience == nil && target.scopes.allSatisfy { $0 == "read" } ? nil : target
  }

  /// Asks for a token of some target, in some way.
  func askForTarget(_ profile: ProfileName) throws(Violation) {
    guard let target = Self.targets.randomElement(using: &random) else { return }
    let params = GetAccessToken.Params(
      profile: profile, minValidity: chance(0.3) ? drawDuration(0...600) : nil,
      scopes: target.scopes.isEmpty && chance(0.5) ? nil : target.scopes.shuffled(using: &random),
      audience: target.audience, timeout: drawDuration(1...60), waitForLogin: chance(0.2), forceRefresh: chance(0.2))
    try askForToken(params)
  }

  /// Reports the newest token of some target as refused, by itself or by its name, with or without what it is for.
  func reportTarget(_ profile: ProfileName) throws(Violation) {
    let known = Self.targets.compactMap { shown[Purpose(profile: profile, target: $0)] }
    guard let token = known.randomElement(using: &random) else { return }
    let text = "A\(token.family).\(token.number)"
    let target = server.access[text]?.target
    let (isNamed, isTold, status) = (chance(0.5), chance(0.5), chance(0.8) ? 401 : 403)
    let number = open(
      Request(
        name: "reportRejected", profile: profile, deadline: life.clock.uptime + .seconds(25), minValidity: .zero,
        target: target, isTargetForgotten: !isTold && givenIn[text] != life.number,
        rejected: status == 401 ? token : nil))
    trace.note("request \(number): reportRejected \(profile) \(text) \(status)\(isTold ? " told" : "")")
    let params = ReportRejected.Params(
      profile: profile, accessToken: isNamed ? nil : ScriptedProvider.secret(text),
      tokenID: isNamed ? "id-\(text)" : nil,
      status: status, scopes: isTold ? target?.scopes : nil, audience: isTold ? target?.audience : nil)
    requests[number]?.isForToken = true
    ask(number) { broker, caller throws(BrokerError) in try broker.reportRejected(params, caller) }
    try turn()
  }

  /// A token is for what was asked for, and of the session that the store has.
  func checkTarget(
    _ access: SimulatedServer.Access, _ token: SimulatedServer.Token, _ text: String, _ request: Request
  ) throws(Violation) {
    if access.target != nil { counts.otherTokens += 1 }
    guard access.target == request.target || request.isTargetForgotten && access.target == nil else {
      throw Violation(.targetKept, "\(text) is for \(access.target as Any), wanted was \(request.target as Any)")
    }
    guard let profile = request.profile, let kept = durable.refreshToken(of: profile),
      !durable.surprisingRecords.contains(profile)
    else { return }
    guard kept.family == token.family else {
      throw Violation(.targetKept, "\(text) is of another session than \(kept)")
    }
  }

  /// Only what the provider refuses is refused.
  func checkRefusal(_ request: Request) throws(Violation) {
    guard let target = request.target, SimulatedServer.refusal(target) != nil else {
      throw Violation(.errorFits, "\(request.name): \(request.target as Any) is refused")
    }
  }

  /// When the troubles are over a session that lives gives tokens for other targets as well.
  func checkTargetRecovery(_ profile: ProfileName) throws(Violation) {
    // Longer than a refusal is remembered, or the breaker is open.
    try pass(.seconds(310), healthily: true)
    guard let token = durable.refreshToken(of: profile), server.families[token.family].isAlive,
      durable.living(profile).map(hasRefreshTokenEnded) == false
    else { return }
    let before = counts.otherTokens
    try askForToken(
      GetAccessToken.Params(profile: profile, audience: "a", timeout: .seconds(5), forceRefresh: true))
    try rest()
    guard counts.otherTokens > before else { throw Violation(.recovers, "\(profile) gets no token for an audience") }
  }
}
