import BrokerCore
import BrokerProtocol
import ProviderKit

/// What a provider says when it gives no tokens (RFC 6749, section 5.2).
struct OAuthRefusal: Sendable, Equatable {
  /// The status (RFC 9110, section 15).
  var status: Int
  /// What the body is.
  var form: BodyForm
  /// The error's name, in the words of the specifications.
  var code: String?
  /// How long the provider wants to be left alone.
  var retryAfter: Duration?
  /// Whether errors of this provider come with status 200.
  var isErrorWithSuccess = false
  /// Whether the provider asks for the same request once more, whatever it calls the error.
  var asksForRetry = false

  /// The user is to be seen again (OpenID Connect Core, section 3.1.2.6).
  private static let interaction: Set<String> = [
    "interaction_required", "login_required", "consent_required", "mfa_required", "account_selection_required",
    // OAuth 2.0 for First-Party Applications (draft-ietf-oauth-first-party-apps), at the token endpoint.
    "insufficient_authorization",
  ]
  /// The client is not configured as the provider wants it (RFC 6749, sections 4.1.2.1 and 5.2; OpenID Connect Core,
  /// section 3.1.2.6; RFC 8707, section 2).
  private static let faults: [String: ConfigurationFault] = [
    "invalid_client": .client, "unauthorized_client": .grant, "unsupported_grant_type": .grant,
    "unsupported_response_type": .grant, "invalid_scope": .scopes, "invalid_target": .scopes,
    "invalid_request": .request, "invalid_request_uri": .request, "invalid_request_object": .request,
    "request_not_supported": .request, "request_uri_not_supported": .request, "registration_not_supported": .client,
    // What the provider wants of a key is not what the profile is configured with (RFC 9449, sections 5 and 8).
    "invalid_dpop_proof": .request, "use_dpop_nonce": .request,
  ]
  /// What is asked for beside the session is not given (RFC 6749, section 5.2; RFC 8707, section 2), in the words of
  /// Microsoft and Auth0 too.
  private static let targets: Set<String> = ["invalid_scope", "invalid_target", "invalid_resource", "access_denied"]
  private static let denials: Set<String> = ["access_denied", "authorization_declined"]
  private static let troubles: Set<String> = ["server_error", "temporarily_unavailable"]

  /// What it means.
  ///
  /// - Parameter purpose: what was asked for.
  /// - Returns: a failure without a word of the provider.
  func failure(_ purpose: OAuthPurpose) -> ProviderFailure {
    if purpose.spendsRefreshToken {
      if let lost = ProviderFailure.lost(behindGateway: status, retryAfter: retryAfter) { return lost }
      // A part of a success: the rest of it, with the next token, is lost.
      if status == 206, form != .html { return .outcomeUnknown(.invalidResponse) }
    }
    guard isFromProvider(purpose) else {
      // A gateway that has lost the provider's answer to a code (RFC 9110, sections 15.6.3 and 15.6.5).
      guard purpose.spendsLoginCredential else { return passing }
      return ProviderFailure.lost(behindGateway: status, retryAfter: retryAfter) ?? passing
    }
    if code.map(Self.troubles.contains) == true || code == "invalid_request" && asksForRetry {
      return .transient(.providerUnavailable, retryAfter: retryAfter)
    }
    return purpose.spendsRefreshToken ? refreshFailure(purpose) : loginFailure(purpose)
  }

  /// Whether the provider itself has refused; else a middlebox has, or it passes.
  ///
  /// A status of 403 without an error's name is taken for the provider's only where it can refuse credentials: firewalls
  /// say so as well.
  private func isFromProvider(_ purpose: OAuthPurpose) -> Bool {
    switch status {
    case 200: isErrorWithSuccess
    case 400, 401: true
    case 407, 408, 425, 429, 501...: false
    case 402..<500: form == .json && code != nil || status == 403 && isCredential(purpose)
    default: false
    }
  }

  /// At a refresh only a few answers are definitive.
  private func refreshFailure(_ purpose: OAuthPurpose) -> ProviderFailure {
    let isSilent = form == .empty && (status == 400 || status == 401)
    guard let code else { return isSilent ? .sessionEnded(.refreshRejected) : passing }
    // A refusal of the client itself means no session, whatever status that comes with.
    if code == "invalid_client" || code == "unauthorized_client", form == .json, let fault = Self.faults[code] {
      return .misconfigured(fault)
    }
    guard [200, 400, 401, 403].contains(status) else { return passing }
    if form == .html { return Self.targets.contains(code) ? .refused(.insufficientScope) : passing }
    if code == "invalid_grant" { return .sessionEnded(.refreshRejected) }
    if Self.interaction.contains(code) { return .reauthenticationRequired }
    if purpose == .narrow, Self.targets.contains(code) { return .refused(.insufficientScope) }
    return Self.faults[code].map { .misconfigured($0) } ?? passing
  }

  private func loginFailure(_ purpose: OAuthPurpose) -> ProviderFailure {
    if let code, let fault = Self.faults[code] { return .misconfigured(fault) }
    switch code {
    case let code? where Self.denials.contains(code): return .refused(.consentDenied)
    case "unsupported_token_type": return .unsupported
    case "expired_token": return .refused(.otpExpired)
    case "slow_down": return .transient(.rateLimited, retryAfter: retryAfter)
    case "too_many_attempts": return .refused(.tooManyAttempts)
    case let code? where Self.interaction.contains(code):
      // A password does not suffice, and there is no page here to go on.
      return purpose == .password ? .unsupported : .refused(.reauthRequired)
    case "invalid_grant" where purpose == .code || purpose == .device: return .refused(.flowNotFound)
    case "invalid_grant" where purpose == .secondFactor: return .refused(.otpInvalid)
    case "invalid_grant" where purpose == .recoveryCode: return .refused(.backupCodeInvalid)
    case "invalid_grant" where purpose == .challenge: return .refused(.otpExpired)
    case "unsupported_challenge_type": return .unsupported
    default: return .refused(isCredential(purpose) ? .invalidCredentials : .providerRejected)
    }
  }

  /// Whether it is a credential that 400, 401 and 403 refuse where nothing better is said.
  private func isCredential(_ purpose: OAuthPurpose) -> Bool {
    switch purpose {
    case .password, .takeOver, .clientCredentials: [200, 400, 401, 403].contains(status)
    default: false
    }
  }

  /// What passes, or comes from a middlebox.
  private var passing: ProviderFailure { .transient(ErrorKind(passing: status, form), retryAfter: retryAfter) }
}
