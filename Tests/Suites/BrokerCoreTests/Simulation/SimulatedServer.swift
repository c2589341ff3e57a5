import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport

/// The truth at the provider: which sessions live, and which token of each is the current one.
///
/// It is as strict as one can be: no leeway, and a token that comes a second time ends all of its session.
struct SimulatedServer {
  /// All tokens of one login.
  struct Family {
    /// Whose session it is.
    let profile: ProfileName
    /// The address that it was begun at.
    let issuer: String
    /// Whether each refresh spends the refresh token.
    var rotates: Bool
    /// How many answers in a row came without another refresh token.
    var unrotated = 0
    /// How long access tokens live; nil means for ever.
    let accessLifetime: Duration?
    /// How long refresh tokens live; nil where the server does not say.
    let refreshLifetime: Duration?
    /// Whether the session is good.
    var isAlive = true
    /// The number of the refresh token that is good.
    var current = 0
    /// How many access tokens there were.
    var issued = 0
    /// For how long it takes the last refresh token that was spent once more.
    let grace: Duration
    /// When that was spent.
    var spentAt = Duration.zero
    /// The refresh tokens that somebody else has spent.
    var stolen: Set<Int> = []
    /// Whether a token that came a second time has ended it, although nobody had stolen it.
    var hasEndedByReplay = false
    /// When the refresh token that is good ends, in uptime; nil where it does not.
    var refreshEndsAt: Duration?
    /// Whether a refresh token that had ended was refused.
    var hasExpired = false
  }

  /// The name of a token: of which family it is, and which of its tokens.
  struct Token: Hashable {
    /// The family.
    let family: Int
    /// Its number in the family.
    let number: Int

    /// Reads a token's text; nil for one that is not ours.
    init?(_ text: some StringProtocol) {
      let parts = text.utf8.dropFirst().split(separator: UInt8(ascii: "."))
      guard parts.count == 2, let family = Int(String(decoding: parts[0], as: UTF8.self)),
        let number = Int(String(decoding: parts[1], as: UTF8.self))
      else { return nil }
      (self.family, self.number) = (family, number)
    }
  }

  /// What is known of an access token.
  struct Access {
    /// The uptime at which it ends; nil for one without an end.
    let endsAt: Duration?
    /// When it ends by the clock of the broker's machine.
    let clientEnd: Timestamp?
    /// When it was asked for, in uptime: the broker counts its life from then.
    let askedAt: Duration
    /// Which start of the machine that was in.
    let boot: String?
    /// How often that clock had been set by then.
    let jumps: Int
    /// What it is for; nil for a session's own.
    let target: TokenTarget?
    /// The refresh token that was good after it was given.
    let refreshToken: String
  }

  /// When a question was sent, by all clocks.
  struct Sending {
    /// The time of the world.
    var uptime: Duration
    /// The clock of the broker's machine.
    var wall: Timestamp
    /// How often that clock has been set.
    var jumps: Int
    /// When it was sent, where the time of the world is that of the answer.
    var asked: Duration
    /// Which start of the machine it is.
    var boot: String?
    /// How far the provider's clock is ahead of that of the machine, where its answers tell.
    var providerAhead: Duration?
  }

  /// Whether every session of a profile is the same user's, and the end of one is the end of all.
  var endsWholeGrants = false
  /// Every session.
  var families: [Family] = []
  /// Every access token.
  var access: [String: Access] = [:]
  /// The session's own access token that is good as long as each refresh token is.
  var ownTokens: [String: String] = [:]
  /// Every refresh token's end by the clock of the broker's machine.
  var refreshEnds: [String: Timestamp] = [:]
  /// The logins that wait for their code, with the wrong codes that they still take.
  var flows: [String: (profile: ProfileName, issuer: String, attempts: Int, endsAt: Duration)] = [:]
  /// For how long spent refresh tokens are taken once more.
  var grace = Duration.zero
  /// The profiles whose logins want a code.
  var wantsCode: Set<ProfileName> = []

  /// Begins a session.
  mutating func begin(
    _ profile: ProfileName, _ issuer: String, _ sending: Sending, _ random: inout SeededGenerator
  ) -> ProviderSession {
    let lifetimes: [Duration?] = [.seconds(20), .seconds(60), .seconds(300), .seconds(300), .seconds(900), nil]
    let refreshLifetimes: [Duration?] = [.seconds(86_400), .seconds(7200), .seconds(600), .seconds(25), nil]
    families.append(
      Family(
        profile: profile, issuer: issuer, rotates: Int.random(in: 0..<4, using: &random) > 0,
        accessLifetime: lifetimes.randomElement(using: &random) ?? nil,
        refreshLifetime: refreshLifetimes.randomElement(using: &random) ?? nil, grace: grace))
    let tokens = issue(families.count - 1, nil, sending)
    return ProviderSession(tokens: tokens, user: User(id: user(families.count - 1)))
  }

  /// Whose session a family is.
  private func user(_ family: Int) -> String { endsWholeGrants ? "user" : "user-\(family)" }

  /// Ends a session, and those that go with it.
  private mutating func end(_ token: Token) {
    let ended = families[token.family]
    for index in families.indices where index == token.family || endsWholeGrants {
      guard families[index].profile == ended.profile, families[index].issuer == ended.issuer else { continue }
      families[index].isAlive = false
    }
  }

  /// Gives the next tokens of a family.
  private mutating func issue(_ number: Int, _ target: TokenTarget?, _ sending: Sending) -> TokenSet {
    let family = families[number]
    let text = "A\(number).\(family.issued)"
    families[number].issued += 1
    let refreshText = "R\(number).\(family.current)"
    let clientEnd = family.accessLifetime.map { sending.wall + $0 }
    access[text] = Access(
      endsAt: family.accessLifetime.map { sending.uptime + $0 }, clientEnd: clientEnd,
      askedAt: sending.asked, boot: sending.boot, jumps: sending.jumps,
      target: target, refreshToken: refreshText)
    if target == nil { ownTokens[refreshText] = text }
    let refreshEnd = family.refreshLifetime.map { sending.wall + $0 }
    if family.rotates || family.issued == 0 {
      families[number].refreshEndsAt = family.refreshLifetime.map { sending.uptime + $0 }
    }
    refreshEnds[refreshText] = refreshEnd
    let repeats = family.rotates || family.issued == 0
    return TokenSet(
      accessToken: ScriptedProvider.secret(text), accessTokenExpiresAt: clientEnd,
      refreshToken: repeats ? ScriptedProvider.secret(refreshText) : nil,
      refreshTokenExpiresAt: repeats ? refreshEnd : nil, scopes: target?.scopes ?? ["read"],
      clockSkew: sending.providerAhead)
  }

  /// Spends a refresh token, for the session's own access token or a target's, unless that is refused.
  mutating func refresh(_ text: String, for target: TokenTarget? = nil, _ sending: Sending) -> ProviderAnswer {
    let refused = ProviderAnswer.failure(.sessionEnded(.refreshRejected))
    guard let token = Token(text), families[token.family].isAlive else { return refused }
    let family = families[token.family]
    if let end = family.refreshEndsAt, end <= sending.uptime {
      families[token.family].isAlive = false
      families[token.family].hasExpired = true
      return refused
    }
    if token.number == family.current - 1, family.spentAt + family.grace > sending.uptime, family.stolen.isEmpty {
      return .tokens(issue(token.family, target, sending))
    }
    guard token.number == family.current else {
      families[token.family].isAlive = false
      families[token.family].hasEndedByReplay = !family.stolen.contains(token.number)
      return .failure(.sessionEnded(.refreshRejected, alert: .refreshTokenReuse))
    }
    if let failure = target.flatMap(Self.refusal) { return .failure(failure) }
    if family.rotates {
      families[token.family].current += 1
      families[token.family].spentAt = sending.uptime
      ownTokens["R\(token.family).\(token.number + 1)"] = ownTokens[text]
    }
    return .tokens(issue(token.family, target, sending))
  }

  /// What is refused, in words that are clear, that mean the user, or that may mean the session as well.
  static func refusal(_ target: TokenTarget) -> ProviderFailure? {
    switch target.audience {
    case "denied": .refused(.insufficientScope)
    case "consent": .reauthenticationRequired
    case "doubtful": .sessionEnded(.refreshRejected)
    default: nil
    }
  }

  /// Whether a family still has a refresh token that the client knows, or can know.
  func isAlive(_ token: Token) -> Bool { families[token.family].isAlive }
}

extension SimulatedServer {
  /// Answers any question, as a provider without troubles does.
  mutating func answer(
    _ request: ProviderRequest, _ sending: Sending, _ random: inout SeededGenerator
  ) -> ProviderAnswer {
    switch request.question {
    case .refresh(let text): return refresh(text, sending)
    case .target(let text, let target): return refresh(text, for: target, sending)
    case .login("right"):
      guard wantsCode.contains(request.profile) else {
        return .outcome(.authenticated(begin(request.profile, request.issuer, sending, &random)))
      }
      return .outcome(.otpRequired(challenge(request, sending)))
    case .login: return .failure(.refused(.invalidCredentials))
    case .verify(let flow, let code): return verify(request, flow, code, sending, &random)
    case .resend(let flow):
      guard flows[flow] != nil else { return .failure(.refused(.flowNotFound)) }
      return .challenge(describe(flow, sending))
    case .revoke(let text):
      if let text, let token = Token(text) { end(token) }
      return .done
    case .currentUser(let text):
      guard let token = Token(text), families[token.family].isAlive else { return .failure(.tokenRefused) }
      if let end = access[text]?.endsAt, end <= sending.uptime { return .failure(.tokenRefused) }
      return .user(User(id: user(token.family), name: ["A", "B"].randomElement(using: &random)))
    }
  }

  private mutating func challenge(_ request: ProviderRequest, _ sending: Sending) -> ProviderChallenge {
    let flow = "flow-\(flows.count)"
    flows[flow] = (request.profile, request.issuer, 5, sending.uptime + .seconds(300))
    return describe(flow, sending)
  }

  private func describe(_ flow: String, _ sending: Sending) -> ProviderChallenge {
    ProviderChallenge(
      flow: ScriptedProvider.secret(flow), method: .sms, maskedDestination: "•••67", otpLength: 6,
      expiresAt: sending.wall + .seconds(300), nextResendAt: sending.wall + .seconds(30),
      attemptsRemaining: flows[flow]?.attempts ?? 0)
  }

  private mutating func verify(
    _ request: ProviderRequest, _ flow: String, _ code: String, _ sending: Sending, _ random: inout SeededGenerator
  ) -> ProviderAnswer {
    guard let known = flows[flow], known.endsAt > sending.uptime else {
      return .failure(.refused(.flowNotFound))
    }
    guard known.attempts > 0 else { return .failure(.refused(.tooManyAttempts)) }
    guard code == "123456" else {
      flows[flow]?.attempts -= 1
      return .failure(.refused(.otpInvalid, attemptsRemaining: known.attempts - 1))
    }
    flows[flow]?.attempts = 0
    return .session(begin(known.profile, known.issuer, sending, &random))
  }
}
