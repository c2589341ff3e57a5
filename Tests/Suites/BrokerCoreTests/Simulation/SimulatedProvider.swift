import BrokerCore
import BrokerProtocol
import SecretMemory

/// What a provider is asked.
enum ProviderQuestion: Sendable {
  case login(password: String)
  case verify(flow: String, code: String)
  case resend(flow: String)
  case refresh(String)
  case target(String, TokenTarget)
  case revoke(String?)
  case currentUser(String)
}

extension ProviderQuestion {
  /// The refresh token that is spent by it.
  var spentToken: String? {
    switch self {
    case .refresh(let text), .target(let text, _): text
    default: nil
    }
  }
}

/// What it says.
enum ProviderAnswer: Sendable {
  case outcome(LoginOutcome)
  case session(ProviderSession)
  case challenge(ProviderChallenge)
  case tokens(TokenSet)
  case user(User)
  case done
  case failure(ProviderFailure)
}

/// A question with the profile and the place that it was meant for.
struct ProviderRequest: Sendable {
  /// The profile that is configured with the provider.
  let profile: ProfileName
  /// Where the question goes.
  let issuer: String
  /// The question.
  let question: ProviderQuestion
}

/// A provider that passes every question on to the simulation.
final class SimulatedProvider: AuthProvider, UserInfoProvider, ChallengeProvider, CodeResendingProvider, TargetProvider,
  RevocationProvider
{
  private let wire: Wire<ProviderRequest, ProviderAnswer>
  private let profile: ProfileName
  let binding: ProviderBinding
  let loginForms = [LoginForm(.password)]
  let requestedScopes: [String] = []
  let habit: RevocationHabit?

  /// The provider of a profile, at an address.
  init(
    _ profile: ProfileName, issuer: String, habit: RevocationHabit?, _ wire: Wire<ProviderRequest, ProviderAnswer>
  ) {
    self.profile = profile
    self.habit = habit
    self.wire = wire
    binding = ProviderBinding(type: "simulated", issuer: issuer)
  }

  var capabilities: ProviderCapabilities {
    var capabilities = ProviderCapabilities()
    capabilities.userInfo = self
    capabilities.challenges = self
    capabilities.codeResending = self
    capabilities.targets = self
    capabilities.revocation = self
    return capabilities
  }

  private func ask(_ question: ProviderQuestion) async -> ProviderAnswer {
    await wire.ask(ProviderRequest(profile: profile, issuer: binding.issuer, question: question))
  }

  /// What the simulation says where it says something that does not answer the question.
  private func unexpected(_ answer: ProviderAnswer) -> ProviderFailure {
    guard case .failure(let failure) = answer else { preconditionFailure("no answer to this question") }
    return failure
  }

  func login(_ credentials: Credentials) async throws(ProviderFailure) -> LoginOutcome {
    let answer = await ask(.login(password: credentials.password?.revealedString() ?? ""))
    guard case .outcome(let outcome) = answer else { throw unexpected(answer) }
    return outcome
  }

  func verifyOTP(flow: Secret, code: Secret) async throws(ProviderFailure) -> ProviderSession {
    let answer = await ask(.verify(flow: flow.revealedString() ?? "", code: code.revealedString() ?? ""))
    guard case .session(let session) = answer else { throw unexpected(answer) }
    return session
  }

  func resendOTP(
    flow: Secret, by channel: OTPChallenge.Method?
  ) async throws(ProviderFailure) -> ProviderChallenge {
    let answer = await ask(.resend(flow: flow.revealedString() ?? ""))
    guard case .challenge(let challenge) = answer else { throw unexpected(answer) }
    return challenge
  }

  func refresh(_ refreshToken: BoundToken) async throws(ProviderFailure) -> TokenSet {
    let answer = await ask(.refresh(refreshToken.value.revealedString() ?? ""))
    guard case .tokens(let tokens) = answer else { throw unexpected(answer) }
    return tokens
  }

  func canGive(_ target: TokenTarget) -> Bool { true }

  func accessToken(for target: TokenTarget, refreshToken: BoundToken) async throws(ProviderFailure) -> TokenSet {
    let answer = await ask(.target(refreshToken.value.revealedString() ?? "", target))
    guard case .tokens(let tokens) = answer else { throw unexpected(answer) }
    return tokens
  }

  func revoke(_ tokens: TokenSet, everywhere: Bool) async throws(ProviderFailure) {
    let answer = await ask(.revoke(tokens.refreshToken?.value.revealedString()))
    guard case .done = answer else { throw unexpected(answer) }
  }

  func currentUser(accessToken: BoundToken) async throws(ProviderFailure) -> User {
    let answer = await ask(.currentUser(accessToken.value.revealedString() ?? ""))
    guard case .user(let user) = answer else { throw unexpected(answer) }
    return user
  }

  func probe() async -> ProviderProbe { .nothingToReach }

  func examine() async -> [ProviderFinding] { [] }
}
