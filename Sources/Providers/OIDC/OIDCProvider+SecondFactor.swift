package import BrokerCore
import BrokerProtocol
import HTTP
import JSONRPC
import OIDCDialect
import RemoteProvider
package import SecretMemory

/// A second factor beside a password, as Auth0 asks for it: with a token of its own, at its `/mfa/` endpoints.
extension OIDCProvider {
  /// How long Auth0's token for it is good.
  private static let lifetime = Duration.seconds(600)
  /// It does not say when another code may be asked for; sooner the first one has hardly arrived.
  private static let cooldown = Duration.seconds(30)
  /// It does not say how many codes it accepts; after ten it locks the account.
  private static let attempts = 5
  /// Its codes have so many digits.
  private static let codeLength = 6
  private static let grant = "http://auth0.com/oauth/grant-type/"
  private static let limits = JSONLimits(depth: 16, byteCount: 65_536)

  /// Asks for a code to be sent.
  func challenge(_ token: Secret, _ scopes: [String]) async throws(ProviderFailure) -> ProviderChallenge {
    let form: TokenCaller.Form = [("challenge_type", .text("oob otp")), ("mfa_token", .secret(token))]
    let sentAt = clock()
    let reply = try await ask(.challenge, try address("challenge"), form, as: .json)
    let (isSent, reference) = try reply.read { reader -> (Bool, Secret?)? in
      switch reader.root["challenge_type"].flatMap({ try? $0.string() }) {
      case "oob": reader.root["oob_code"].flatMap { try? $0.secret() }.map { (true, $0) }
      case "otp": (false, nil)
      default: nil
      }
    }
    let receiver = isSent ? await receiver(token) : nil
    guard let flow = try? PendingFlow.secondFactor(token: token, reference: reference, scopes: scopes).handle() else {
      throw .transient(.overloaded)
    }
    return ProviderChallenge(
      flow: flow, method: isSent ? receiver?.method ?? .sms : .totp, maskedDestination: receiver?.name ?? "",
      otpLength: Self.codeLength, expiresAt: sentAt + Self.lifetime, nextResendAt: sentAt + Self.cooldown,
      attemptsRemaining: Self.attempts, backupCodesAllowed: true)
  }

  /// Answers with the code.
  ///
  /// - Throws: `.refused` with `otpInvalid`, `otpExpired`, `tooManyAttempts` or `flowNotFound`; and as ``login(_:)``.
  package func verifyOTP(flow: Secret, code: Secret) async throws(ProviderFailure) -> ProviderSession {
    guard case .secondFactor(let token, let reference, let scopes) = PendingFlow(flow) else {
      throw .refused(.flowNotFound)
    }
    var form: TokenCaller.Form = [("mfa_token", .secret(token))]
    if let reference {
      form += [("grant_type", .text(Self.grant + "mfa-oob")), ("oob_code", .secret(reference))]
      form.append(("binding_code", .secret(code)))
    } else {
      form += [("grant_type", .text(Self.grant + "mfa-otp")), ("otp", .secret(code))]
    }
    let reply = try await ask(.secondFactor, try await endpoint(.token), form)
    return try await session(reply, scopes)
  }

  /// Answers with a recovery code; another one that comes with the tokens cannot be handed on from here.
  ///
  /// - Throws: `.refused` with `backupCodeInvalid`, `otpExpired` or `flowNotFound`; and as ``login(_:)``.
  package func verifyBackupCode(flow: Secret, code: Secret) async throws(ProviderFailure) -> ProviderSession {
    guard case .secondFactor(let token, _, let scopes) = PendingFlow(flow) else { throw .refused(.flowNotFound) }
    let form: TokenCaller.Form = [
      ("grant_type", .text(Self.grant + "mfa-recovery-code")), ("mfa_token", .secret(token)),
      ("recovery_code", .secret(code)),
    ]
    let reply = try await ask(.recoveryCode, try await endpoint(.token), form)
    return try await session(reply, scopes)
  }

  /// Asks for another code.
  ///
  /// - Throws: `.refused` with `otpExpired` where the login is over, or `flowNotFound`; and as ``login(_:)``.
  package func resendOTP(flow: Secret) async throws(ProviderFailure) -> ProviderChallenge {
    guard case .secondFactor(let token, _, let scopes) = PendingFlow(flow) else { throw .refused(.flowNotFound) }
    return try await challenge(token, scopes)
  }

  private func address(_ path: String) throws(ProviderFailure) -> HTTPURL {
    do throws(HTTPFailure) { return try HTTPURL(dialect.issuer).appending(path: "/mfa/" + path) } catch {
      throw ProviderFailure(error)
    }
  }

  /// Where the code goes, if the provider tells it; a login does not fail for want of that.
  private func receiver(_ token: Secret) async -> (method: OTPChallenge.Method, name: String)? {
    guard let url = try? address("authenticators"),
      let response = try? await sessionTransport.send(HTTPRequest(.get, url), bearer: token), response.status == 200
    else { return nil }
    return response.body.withArray { bytes in
      let list = (try? JSONDocument(parsing: bytes, limits: Self.limits)).flatMap { try? $0.root.elements() } ?? []
      let active = list.first { $0["active"]?.kind == .true && Self.text("authenticator_type", $0) == "oob" }
      guard let active else { return nil }
      let isEmail = Self.text("oob_channel", active) == "email"
      return (isEmail ? .email : .sms, MaskedDestination(Self.text("name", active) ?? "").text)
    }
  }

  private static func text(_ name: String, _ node: JSONNode) -> String? {
    node[name].flatMap { try? $0.string() }
  }
}
