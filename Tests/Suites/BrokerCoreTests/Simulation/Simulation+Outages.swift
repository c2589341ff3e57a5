import BrokerCore
import BrokerProtocol
import SecretMemory

/// Providers that are away, or not well, for all profiles at once, and what the broker must make of what it learns of them.
extension Simulation {
  /// What is the matter with a provider.
  enum Outage {
    /// It cannot be reached.
    case away
    /// It answers that it is unavailable.
    case unwell
  }

  /// What the broker can know of providers, in its present life.
  struct Learnt {
    /// A failure of a refresh.
    struct Failure {
      /// Its number among all answers.
      let number: Int
      /// When it came.
      let uptime: Duration
      /// How long its provider wants to be left alone.
      let wish: Duration?
    }

    /// How many answers there were.
    var count = 0
    /// The last failure of each profile's refreshes.
    var failures: [ProfileName: Failure] = [:]
    /// The number of the last answer that each provider has given itself.
    var answered: [String: Int] = [:]
  }

  /// Begins an outage of a provider, or ends it.
  func changeOutage() {
    guard let issuer = profiles.randomElement(using: &random)?.issuer else { return }
    outages[issuer] = outages[issuer] == nil && chance(0.6) ? (chance(0.5) ? .away : .unwell) : nil
    trace.note("\(issuer) is \(outages[issuer].map { "\($0)" } ?? "well")")
  }

  /// Lets a provider rotate tokens from now on that it has not rotated so far.
  func beginRotation() {
    // A reply that was lost before has brought an access token that the broker does not know.
    let fixed = server.families.indices.filter { index in
      let family = server.families[index]
      return family.isAlive && !family.rotates && !spending.isUnknown("R\(index).\(family.current)")
    }
    guard let family = fixed.randomElement(using: &random) else { return }
    server.families[family].rotates = true
    trace.note("session \(family) rotates from now on")
  }

  /// What becomes of a call whose provider has an outage; nil where it has none.
  func fateOfOutage(_ call: Wire<ProviderRequest, ProviderAnswer>.Call, _ healthily: Bool) -> Fate? {
    guard !healthily, let outage = outages[call.question.issuer] else { return nil }
    guard sent[call.number]?.answer == nil else { return .lost(hasActed: true) }
    return .notActedOn(.transient(outage == .away ? .networkUnavailable : .providerUnavailable))
  }

  /// Takes in what the broker learns by an answer.
  func learn(_ answer: ProviderAnswer, _ request: ProviderRequest) {
    learnt.count += 1
    let failure: ProviderFailure? = if case .failure(let failure) = answer { failure } else { nil }
    if let token = request.question.spentToken.flatMap({ SimulatedServer.Token($0) }) {
      note(answer, of: token)
      if let failure { note(failure, request.profile) }
    } else if case .revoke = request.question {
      return
    }
    guard !wishes.isLocked, wishes.reconfigurations == 0,
      profiles.contains(where: { $0.name == request.profile && $0.issuer == request.issuer })
    else { return }
    if ProviderCondition(failure) != nil { learnt.answered[request.issuer] = learnt.count }
  }

  private func note(_ failure: ProviderFailure, _ profile: ProfileName) {
    let wish: Duration? =
      switch failure {
      case .transient(_, let retryAfter, _), .outcomeUnknown(_, let retryAfter): retryAfter
      default: nil
      }
    learnt.failures[profile] = Learnt.Failure(number: learnt.count, uptime: life.clock.uptime, wish: wish)
  }

  private func note(_ answer: ProviderAnswer, of token: SimulatedServer.Token) {
    guard case .tokens(let tokens) = answer else { return }
    server.families[token.family].unrotated =
      isRotated(token, by: tokens) ? 0 : server.families[token.family].unrotated + 1
  }

  private func isRotated(_ token: SimulatedServer.Token, by tokens: TokenSet) -> Bool {
    tokens.refreshToken.map { $0.value.revealedString() != "R\(token.family).\(token.number)" } ?? false
  }

  /// Whether a refresh token is as good after an answer as before: it was not rotated.
  func leavesTokenGood(_ answer: ProviderAnswer, _ request: ProviderRequest) -> Bool {
    guard case .tokens(let tokens) = answer,
      let token = request.question.spentToken.flatMap({ SimulatedServer.Token($0) })
    else { return false }
    return !isRotated(token, by: tokens)
  }

  /// Whether the broker may have seen that a session's refresh token is not rotated.
  func seemsNotToRotate(_ token: SimulatedServer.Token) -> Bool {
    server.families[token.family].unrotated >= LivingSession.unrotatedRepliesEnough
  }

  /// A caller who wants a new token is refused without a question only for as long as a person can wait.
  func checkPromptness(_ error: BrokerError, _ request: Request) throws(Violation) {
    let kinds: [ErrorKind] = [
      .networkUnavailable, .providerUnavailable, .invalidResponse, .tlsFailed, .providerRejected,
    ]
    // The answer to a refresh is held back while a login is being saved, and counts where that fails.
    guard request.isForced, request.target == nil, kinds.contains(error.kind), !weather.hasDiskFailed,
      let profile = request.profile, wishes.reconfigurations == 0,
      let issuer = profiles.first(where: { $0.name == profile })?.issuer
    else { return }
    guard let failure = learnt.failures[profile],
      life.clock.uptime - failure.uptime <= (failure.wish == nil ? .seconds(10) : .seconds(60))
    else { throw Violation(.callersServed, "\(profile): \(error.kind), and nothing was sent for long") }
    guard error.kind == .networkUnavailable, failure.wish == nil, let answered = learnt.answered[issuer],
      answered > failure.number
    else { return }
    throw Violation(.callersServed, "\(profile): \(error.kind), and the provider has answered since")
  }
}
