import BrokerCore
import BrokerProtocol
import ProviderKit

/// The meaning of a refusal for the session, by the endpoint that was asked.
enum RefusalTable {
  /// The failure that a refusal is.
  ///
  /// - Parameters:
  ///   - refusal: what the backend said; its status is no success.
  ///   - name: what was asked.
  ///   - mapping: what the backend calls its fields, and whether it knows clients.
  /// - Returns: a failure without a word of the backend, but for the names of fields.
  static func failure(_ refusal: Refusal, _ name: RESTEndpoint.Name, _ mapping: RESTMapping) -> ProviderFailure {
    if name == .refresh { return refreshFailure(refusal) }
    if let lost = lostReply(refusal, name) { return lost }
    if let passing = passingFailure(refusal) { return passing }
    let kind = kind(refusal, name)
    switch kind {
    case .providerUnavailable: return .transient(kind, retryAfter: refusal.retryAfter)
    case .unsupportedByProvider: return .unsupported
    case .loginRequired where name.needsSession: return .tokenRefused
    case .providerRejected where refusal.code.map(RefusalCode.isClientError) == true: return .misconfigured(.client)
    default: break
    }
    let namesFields = kind == .validationFailed && !refusal.fields.isEmpty
    let fields = namesFields ? ownNames(refusal.fields, mapping.endpoints[name]) : nil
    let countsAttempts = kind == .otpInvalid || kind == .backupCodeInvalid || kind == .tooManyAttempts
    return .refused(
      kind, attemptsRemaining: countsAttempts ? refusal.attemptsRemaining : nil, retryAfter: refusal.retryAfter,
      fields: fields)
  }

  /// The failure of a refused refresh: final only by 400 or 401 from the backend itself, with JSON or an empty body; or
  /// by words that mean it, with 403 or a success.
  ///
  /// Every other refusal may come from any machine on the way, or pass.
  private static func refreshFailure(_ refusal: Refusal) -> ProviderFailure {
    if let lost = refusal.lostReply(rotates: true) { return lost }
    if refusal.isForeignChallenge, refusal.form == .empty { return .transient(.networkUnavailable) }
    let isDefinitive = (refusal.status == 400 || refusal.status == 401) && [.json, .empty].contains(refusal.form)
    let isWorded =
      refusal.form == .json
      && (refusal.isWithSuccess || refusal.isConclusive
        || refusal.status == 500 && refusal.code.map(RefusalWords.isInvalidGrant) == true)
    guard isDefinitive || isWorded else { return unclear(refusal) }
    switch refusal.configuredKind {
    case nil: return isDefinitive || refusal.saysSessionIsOver ? plainFailure(refusal) : unclear(refusal)
    case .sessionExpired, .loginRequired, .invalidCredentials: return refusal.sessionEnded
    case .providerUnavailable, .rateLimited: return refusal.unavailable
    case .providerRejected where refusal.isAboutClient: return .misconfigured(.client)
    case .some(let kind): return .refused(kind, retryAfter: refusal.retryAfter)
    }
  }

  /// A refusal of which the mapping says nothing: the end, unless it says plainly that it passes, or is about something
  /// else than the token.
  private static func plainFailure(_ refusal: Refusal) -> ProviderFailure {
    if refusal.isAboutClient { return .misconfigured(.client) }
    let words = refusal.words
    if words.asksForPatience || refusal.saysItPasses, !refusal.saysSessionIsOver {
      return refusal.unavailable
    }
    if words.isAboutMiddlebox, !words.saysGrantIsOver { return unclear(refusal) }
    if words.isAboutRequest, !refusal.saysSessionIsOver { return unclear(refusal, .request) }
    return refusal.sessionEnded
  }

  /// The failure of a refusal that may pass, or mean the end of the session if it goes on: JSON of 4xx, with a name
  /// where a firewall sends the same without one.
  private static func unclear(_ refusal: Refusal, _ fault: ConfigurationFault? = nil) -> ProviderFailure {
    let words = refusal.words
    let isOwn =
      switch refusal.status {
      case 200..<300: refusal.isWithSuccess
      case 407, 408, 425, 429: false
      case let status where RefusalWords.saysNothing(of: status): words.hasErrorName
      default: (400..<500).contains(refusal.status)
      }
    let isPassing = words.asksForPatience || words.tellsOfOutage || words.isAboutMiddlebox
    guard refusal.form == .json, isOwn, !isPassing else {
      return refusal.isWithSuccess ? refusal.unavailable : refusal.passing
    }
    let kind = refusal.isWithSuccess ? .providerRejected : ErrorKind(passing: refusal.status, refusal.form)
    return refusal.rejected(kind, fault: fault, isCounted: true)
  }

  /// A gateway that has lost the backend's answer to a code: the code may be used up.
  private static func lostReply(_ refusal: Refusal, _ name: RESTEndpoint.Name) -> ProviderFailure? {
    name.spendsCode && refusal.configuredKind == nil ? refusal.lostReply(rotates: false) : nil
  }

  /// The failure for a refusal that has nothing to do with the request, and passes.
  private static func passingFailure(_ refusal: Refusal) -> ProviderFailure? {
    guard refusal.configuredKind == nil, !refusal.isWithSuccess else { return nil }
    switch refusal.status {
    case 501: return .refused(.unsupportedByProvider)
    case 206: return .refused(.invalidResponse)
    case 300..<400, 407, 408, 425, 500...: return refusal.passing
    default: return nil
    }
  }

  private static func kind(_ refusal: Refusal, _ name: RESTEndpoint.Name) -> ErrorKind {
    if let kind = refusal.kind { return adapted(kind, name) }
    if name == .login, let obstacle = refusal.words.obstacle, refusal.status < 500 { return obstacle }
    switch refusal.status {
    // What says nothing more than that it is none.
    case 200..<300: return name == .login ? .invalidCredentials : plain(400, name)
    case 404, 405:
      return name == .verifyOtp || name == .resendOtp || name == .verifyBackupCode ? .flowNotFound : .providerRejected
    case 409: return name == .register ? .emailTaken : .validationFailed
    case 422: return name == .verifyOtp || name == .verifyBackupCode ? plain(400, name) : .validationFailed
    case 423: return .accountLocked
    case 429: return tooMany(name)
    case 410: return isCode(name) ? .otpExpired : .validationFailed
    case 400 where !refusal.fields.isEmpty: return .validationFailed
    case 400, 401, 403: return plain(refusal.status, name)
    default: return .providerRejected
    }
  }

  /// The kind of 400, 401 and 403 where nothing better is known.
  private static func plain(_ status: Int, _ name: RESTEndpoint.Name) -> ErrorKind {
    switch name {
    case .login: .invalidCredentials
    case .verifyOtp: .otpInvalid
    case .verifyBackupCode: .backupCodeInvalid
    case .resendOtp: .flowNotFound
    case .changePassword, .deleteAccount: status == 401 ? .loginRequired : .invalidCredentials
    case .currentUser, .updateProfile, .logout, .refresh:
      switch status {
      case 401: .loginRequired
      case 403: .forbidden
      default: .validationFailed
      }
    case .register, .forgotPassword, .resetPassword, .verifyEmail: status == 400 ? .validationFailed : .forbidden
    }
  }

  /// The kind that a name means at an endpoint: `invalid_code` for a backup code, `expired` for a link.
  private static func adapted(_ kind: ErrorKind, _ name: RESTEndpoint.Name) -> ErrorKind {
    switch (kind, name) {
    case (.otpInvalid, .verifyBackupCode), (.invalidCredentials, .verifyBackupCode): .backupCodeInvalid
    case (.invalidCredentials, .verifyOtp), (.loginRequired, .verifyOtp): .otpInvalid
    case (.loginRequired, .resetPassword), (.loginRequired, .verifyEmail): .validationFailed
    case (.rateLimited, .verifyOtp), (.rateLimited, .verifyBackupCode): .tooManyAttempts
    case (.rateLimited, .resendOtp), (.tooManyAttempts, .resendOtp): kind == .rateLimited ? .resendTooSoon : kind
    default: kind
    }
  }

  private static func tooMany(_ name: RESTEndpoint.Name) -> ErrorKind {
    switch name {
    case .verifyOtp, .verifyBackupCode: .tooManyAttempts
    case .resendOtp: .resendTooSoon
    default: .rateLimited
    }
  }

  private static func isCode(_ name: RESTEndpoint.Name) -> Bool {
    name == .verifyOtp || name == .resendOtp || name == .verifyBackupCode
  }

  /// The fields under the names that clients know.
  private static func ownNames(_ theirs: [String], _ endpoint: RESTEndpoint?) -> [String] {
    theirs.map { name in endpoint?.fields.first { $0.value == name }?.key.rawValue ?? name }
  }
}
