package import BrokerCore
package import BrokerProtocol
import HTTP
import JSON
import ProviderKit
package import SecretMemory

/// A second factor beside a password, as Auth0 asks for it: with a token of its own, at its `/mfa/` endpoints.
extension OIDCProvider: ChallengeProvider, CodeResendingProvider, BackupCodeProvider {
  /// How long Auth0's token for it is good.
  private static let lifetime = Duration.seconds(600)
  /// The time before another code may be requested, which the provider does not tell; sooner the first one has hardly
  /// arrived.
  private static let cooldown = Duration.seconds(30)
  /// It does not say how many codes it accepts; after ten it locks the account.
  private static let attempts = 5
  /// Its codes have so many digits.
  private static let codeLength = 6
  private static let grant = "http://auth0.com/oauth/grant-type/"
  private static let limits = JSONLimits(depth: 16, byteCount: 65_536)

  /// The kind of second factor that the provider wants.
  private enum Wanted {
    /// A code that was sent, with its reference.
    case sentCode(Secret)
    /// The code of an authenticator.
    case ownCode
    /// A touch on a telephone's screen, and no code.
    case touch
  }

  /// Asks for a code to be sent, or else for that of an authenticator.
  ///
  /// - Throws: `.unsupported` where the user has neither: a touch on a telephone cannot be answered for with a code. And as
  ///   ``login(_:)``.
  func challenge(_ token: Secret, _ scopes: [String], _ key: ProofKey?) async throws(ProviderFailure)
    -> ProviderChallenge
  {
    let sentAt = clock()
    var wanted = try await wanted("oob otp", token)
    // The app that shows the question has codes as well.
    if case .touch = wanted { wanted = try await self.wanted("otp", token) }
    let reference: Secret?
    switch wanted {
    case .sentCode(let code): reference = code
    case .ownCode: reference = nil
    case .touch: throw .unsupported
    }
    let isSent = reference != nil
    let receiver = isSent ? await receiver(token) : nil
    let flow = try await SecretArena.withRoomForReply(patience: ProviderFailure.interactivePatience) {
      () throws(SecretMemoryExhausted) in
      try PendingFlow.secondFactor(token: token, reference: reference, scopes: scopes, key: key).handle()
    }
    return ProviderChallenge(
      flow: flow, method: isSent ? receiver?.method ?? .sms : .totp, maskedDestination: receiver?.name ?? "",
      otpLength: Self.codeLength, expiresAt: sentAt + Self.lifetime, nextResendAt: sentAt + Self.cooldown,
      attemptsRemaining: Self.attempts, backupCodesAllowed: true)
  }

  private func wanted(_ types: String, _ token: Secret) async throws(ProviderFailure) -> Wanted {
    let form: TokenCaller.Form = [("challenge_type", .text(types)), ("mfa_token", .secret(token))]
    let reply = try await ask(.challenge, try address("challenge"), form, as: .json)
    return try await reply.read { reader throws(SecretMemoryExhausted) -> Wanted? in
      switch Self.text("challenge_type", reader.root) {
      case "oob":
        guard let code = try reader.root["oob_code"]?.foundSecret() else { return nil }
        // Only what was sent as a code is to be typed in (Auth0 Authentication API, "Challenge request").
        return Self.text("binding_method", reader.root) == "prompt" ? .sentCode(code) : .touch
      case "otp": return .ownCode
      default: return nil
      }
    }
  }

  /// Answers with the code.
  ///
  /// - Throws: `.refused` with `otpInvalid`, `otpExpired`, `tooManyAttempts` or `flowNotFound`; and as ``login(_:)``.
  package func verifyOTP(flow: Secret, code: Secret) async throws(ProviderFailure) -> ProviderSession {
    guard case .secondFactor(let token, let reference, let scopes, let key) = try pendingFlow(flow) else {
      throw .refused(.flowNotFound)
    }
    var form: TokenCaller.Form = [("mfa_token", .secret(token))]
    if let reference {
      form += [("grant_type", .text(Self.grant + "mfa-oob")), ("oob_code", .secret(reference))]
      form.append(("binding_code", .secret(code)))
    } else {
      form += [("grant_type", .text(Self.grant + "mfa-otp")), ("otp", .secret(code))]
    }
    let reply = try await ask(.secondFactor, try await tokenEndpoint(), form, key: key)
    return try await session(reply, scopes)
  }

  /// Dashes are only there for the eye.
  package var dashesOfBackupCodes: TypedCode.Dashes { .removed }

  /// Answers with a recovery code; a new one that comes with the tokens cannot be passed on from here.
  ///
  /// - Throws: `.refused` with `backupCodeInvalid`, `otpExpired` or `flowNotFound`; and as ``login(_:)``.
  package func verifyBackupCode(flow: Secret, code: Secret) async throws(ProviderFailure) -> ProviderSession {
    guard case .secondFactor(let token, _, let scopes, let key) = try pendingFlow(flow) else {
      throw .refused(.flowNotFound)
    }
    let form: TokenCaller.Form = [
      ("grant_type", .text(Self.grant + "mfa-recovery-code")), ("mfa_token", .secret(token)),
      ("recovery_code", .secret(code)),
    ]
    let reply = try await ask(.recoveryCode, try await tokenEndpoint(), form, key: key)
    return try await session(reply, scopes)
  }

  /// Asks for another code.
  ///
  /// - Throws: `.refused` with `otpExpired` where the login is over, or `flowNotFound`; and as ``login(_:)``.
  package func resendOTP(
    flow: Secret, by channel: OTPChallenge.Method?
  ) async throws(ProviderFailure) -> ProviderChallenge {
    guard case .secondFactor(let token, _, let scopes, let key) = try pendingFlow(flow) else {
      throw .refused(.flowNotFound)
    }
    return try await challenge(token, scopes, key)
  }

  private func address(_ path: String) throws(ProviderFailure) -> HTTPURL {
    do throws(HTTPFailure) { return try HTTPURL(dialect.issuer).appending(path: "/mfa/" + path) } catch {
      throw ProviderFailure(error)
    }
  }

  /// The destination of the code, if the provider tells it; a login does not fail for want of that.
  private func receiver(_ token: Secret) async -> (method: OTPChallenge.Method, name: String)? {
    guard let url = try? address("authenticators"),
      let response = try? await sessionTransport.send(HTTPRequest(.get, url, purpose: "authenticators"), bearer: token),
      response.status == 200
    else { return nil }
    return response.body.withArray { bytes in
      let list = (try? JSONDocument(parsing: bytes, limits: Self.limits)).flatMap { try? $0.root.elements() } ?? []
      let active = list.first { Self.channel($0) != nil }
      return active.flatMap { factor in
        Self.channel(factor).map { ($0, MaskedDestination(Self.text("name", factor) ?? "").text) }
      }
    }
  }

  /// The way in which a factor's codes reach the user; nil for one without codes, or that is not in use.
  private static func channel(_ factor: JSONNode) -> OTPChallenge.Method? {
    guard factor["active"]?.kind == .true, text("authenticator_type", factor) == "oob" else { return nil }
    switch text("oob_channel", factor) {
    case "email": return .email
    // A voice reads the code out to the same number.
    case "sms", "voice": return .sms
    default: return nil
    }
  }

  private static func text(_ name: String, _ node: JSONNode) -> String? {
    node[name].flatMap { try? $0.string() }
  }
}
