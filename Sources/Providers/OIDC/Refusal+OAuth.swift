import BrokerCore
import BrokerProtocol
import ProviderKit

/// A provider's answer without tokens (RFC 6749, section 5.2): its code is in the words of the specifications.
extension Refusal {
  private static let denials: Set<String> = ["access_denied", "authorization_declined"]

  /// The failure that the refusal means.
  ///
  /// - Parameters:
  ///   - purpose: what was asked for.
  ///   - quirks: where the provider differs.
  /// - Returns: a failure without a sentence of the provider.
  func failure(_ purpose: OAuthPurpose, _ quirks: OIDCQuirks = OIDCQuirks()) -> ProviderFailure {
    // The first name that means something.
    let meaning = names.lazy.compactMap { RefusalMeaning($0, status: status, quirks) }.first
    if let lost = lostReply(purpose, meaning) { return lost }
    if purpose.spendsRefreshToken, let kind = configuredKind { return refreshFailure(configured: kind) }
    guard isFromProvider(purpose) else { return passing }
    if asksForPatience(meaning) { return unavailable }
    return purpose.spendsRefreshToken ? refreshFailure(purpose, meaning) : loginFailure(purpose, meaning)
  }

  private var names: [String] { (code.map { [$0] } ?? []) + words.names }

  private var saysInvalidGrant: Bool { names.contains(where: RefusalWords.isInvalidGrant) }

  /// The failure where a gateway has answered for a provider that may have acted.
  ///
  /// A refusal in OAuth's own words is the provider's, and nothing was issued with it; what gateways call an error is the
  /// status' reason.
  private func lostReply(_ purpose: OAuthPurpose, _ meaning: RefusalMeaning?) -> ProviderFailure? {
    guard purpose.spendsRefreshToken || purpose.spendsLoginCredential else { return nil }
    if form == .json, meaning != nil || configuredKind != nil { return nil }
    return lostReply(rotates: purpose.spendsRefreshToken)
  }

  /// Whether the provider itself has refused; else a middlebox has, or it passes.
  ///
  /// A status of 403 without an error's name is taken for the provider's only where it can refuse credentials: firewalls
  /// say so as well.
  private func isFromProvider(_ purpose: OAuthPurpose) -> Bool {
    switch status {
    case 200..<300: isWithSuccess
    case 400, 401: true
    case 407, 408, 425, 429, 501...: false
    case 500: form == .json && saysInvalidGrant
    case 402..<500:
      form == .json && (code != nil || words.hasName || words.saysGrantIsOver)
        || status == 403 && isCredential(purpose)
    default: false
    }
  }

  /// Whether it passes by the provider's own word: some say so under a name that means something else (Ory Hydra:
  /// `invalid_request`, "Please retry the request."; Microsoft: `invalid_grant`, AADSTS50196).
  private func asksForPatience(_ meaning: RefusalMeaning?) -> Bool {
    meaning == .passing && code != "slow_down" || words.asksForPatience
  }

  private func refreshFailure(configured kind: ErrorKind) -> ProviderFailure {
    switch kind {
    case .sessionExpired: sessionEnded
    case .reauthRequired: .reauthenticationRequired
    case .providerRejected: rejected(fault: .request, isCounted: false)
    case .insufficientScope: .refused(.insufficientScope)
    default: .transient(kind, retryAfter: retryAfter)
    }
  }

  /// At a refresh only a few answers are definitive.
  private func refreshFailure(_ purpose: OAuthPurpose, _ meaning: RefusalMeaning?) -> ProviderFailure {
    if form == .empty {
      let isOwn = status == 400 || status == 401 && !isForeignChallenge
      return isOwn ? sessionEnded : isForeignChallenge ? .transient(.networkUnavailable) : passing
    }
    if meaning == .passing { return unavailable }
    guard form == .json else { return passing }
    let isOver = words.saysGrantIsOver && !names.contains(where: RefusalMeaning.leavesSession)
    if words.isAboutMiddlebox, !isOver, !saysInvalidGrant { return passing }
    // A refusal of the client itself means no session, whatever status that comes with.
    if meaning == .fault(.client), !isOver { return .misconfigured(.client) }
    if code == "unauthorized_client", !isOver { return .misconfigured(.grant) }
    if words.tellsOfOutage, !isOver, !saysInvalidGrant { return unavailable }
    guard isWithSuccess || saysInvalidGrant || isConclusive else { return unclear(purpose, nil) }
    if purpose == .narrow, isNotGranted(meaning) { return .refused(.insufficientScope) }
    return isOver ? sessionEnded : wordedFailure(meaning, purpose)
  }

  /// The meaning of a refusal's name at a refresh where no sentence says more.
  private func wordedFailure(_ meaning: RefusalMeaning?, _ purpose: OAuthPurpose) -> ProviderFailure {
    switch meaning {
    case .sessionOver:
      let isClients = words.isAboutClient || words.isAboutCredentials && code == "unauthorized"
      return isClients && !saysInvalidGrant ? .misconfigured(.client) : sessionEnded
    case .userWanted: return .reauthenticationRequired
    case .fault(let fault): return purpose == .narrow ? .misconfigured(fault) : unclear(purpose, fault)
    case .notGranted, .passing, .configured, nil: return unclear(purpose, nil)
    }
  }

  /// Whether the refusal is about the requested scopes or audience alone (RFC 6749, section 5.2; RFC 8707, section 2).
  private func isNotGranted(_ meaning: RefusalMeaning?) -> Bool {
    switch meaning {
    case .fault(.scopes), .notGranted: true
    case .sessionOver: words.isAboutTarget && !words.saysGrantIsOver
    default: false
    }
  }

  /// A refusal that may pass, or be fixed, or mean the end of the session, if it goes on.
  private func unclear(_ purpose: OAuthPurpose, _ fault: ConfigurationFault?) -> ProviderFailure {
    guard purpose == .refresh else { return passing }
    let isCounted = words.hasErrorName || !RefusalWords.saysNothing(of: status)
    return rejected(fault: fault, isCounted: isCounted)
  }

  private func loginFailure(_ purpose: OAuthPurpose, _ meaning: RefusalMeaning?) -> ProviderFailure {
    if purpose == .takeOver, words.saysGrantIsOver { return .refused(.invalidCredentials) }
    if case .fault(let fault)? = meaning { return .misconfigured(fault) }
    switch code {
    case let code? where Self.denials.contains(code): return .refused(.consentDenied)
    case "unsupported_token_type": return .unsupported
    case "expired_token": return .refused(.otpExpired)
    case "slow_down": return .transient(.rateLimited, retryAfter: retryAfter)
    case "too_many_attempts": return .refused(.tooManyAttempts)
    case _ where meaning == .userWanted:
      // A password does not suffice, and there is no page here to go on.
      return purpose == .password ? .unsupported : .refused(.reauthRequired)
    case let code? where purpose == .assertion || purpose == .exchange:
      // The other token, or the trust in its issuer: in the provider's own word.
      return .rejected(ProviderRejection(said: ProviderWord(code).map { .error($0) }))
    case "invalid_grant" where purpose == .code || purpose == .device: return .refused(.flowNotFound)
    case "invalid_grant" where purpose == .secondFactor: return .refused(.otpInvalid)
    case "invalid_grant" where purpose == .recoveryCode: return .refused(.backupCodeInvalid)
    case "invalid_grant" where purpose == .challenge: return .refused(.otpExpired)
    case "unsupported_challenge_type": return .unsupported
    case _ where purpose == .password && words.obstacle != nil:
      return words.obstacle == .unsupportedByProvider ? .unsupported : .refused(words.obstacle ?? .invalidCredentials)
    default: return .refused(isCredential(purpose) ? .invalidCredentials : .providerRejected)
    }
  }

  /// Whether 400, 401 and 403 refuse a credential where nothing better is known.
  private func isCredential(_ purpose: OAuthPurpose) -> Bool {
    switch purpose {
    case .password, .takeOver, .clientCredentials: isWithSuccess || [400, 401, 403].contains(status)
    default: false
    }
  }
}
