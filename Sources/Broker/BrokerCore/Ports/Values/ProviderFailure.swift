package import BrokerProtocol

/// The reason why a provider did not do what it was asked, by its meaning for the session.
package enum ProviderFailure: Error, Sendable, Equatable {
  /// A credential, code or handle was refused; `attemptsRemaining` where the provider counts.
  case refused(ErrorKind, attemptsRemaining: Int? = nil, retryAfter: Duration? = nil, fields: [String]? = nil)
  /// The refresh token has ended for good: the one failure that ends a session.
  case sessionEnded(
    SessionExpiredEvent.Reason, alert: SecurityAlertEvent.Kind? = nil, said: ProviderLastWord = ProviderLastWord())
  /// The provider wants the user to authenticate again before it goes on (OpenID Connect Core, section 3.1.2.6): that
  /// ends a session too.
  case reauthenticationRequired
  /// The provider wants a code of the user before it goes on, and has sent it already: a refresh ends the session by
  /// that, and the code brings another one.
  case challenged(ProviderChallenge)
  /// A passing failure, and the request was certainly not acted on.
  case transient(ErrorKind, retryAfter: Duration? = nil, cause: PassingCause? = nil)
  /// The request may or may not have been acted on: the reply was lost. A gateway in between may wish for patience.
  case outcomeUnknown(ErrorKind, retryAfter: Duration? = nil)
  /// The provider's answer may pass, may be a fault of the configuration, or may mean the end.
  case rejected(ProviderRejection)
  /// The refresh token was exchanged for another one, without an access token that can be used.
  case rotated(RotatedToken)
  /// The access token was refused (RFC 6750, section 3.1, `invalid_token`): a fresh one may be accepted.
  case tokenRefused
  /// The provider rejects the configuration of the profile: the session stays, and the configuration must be fixed.
  case misconfigured(ConfigurationFault)
  /// A credential of the client could not be had, and nothing was sent: the session stays.
  case credentialMissing(MissingCredential)
  /// The token of another profile that the request shows could not be had, and nothing was sent.
  indirect case subjectMissing(BrokerError)
  /// The provider cannot do this at all.
  case unsupported

  /// Whether the provider cannot even have seen the request: these kinds never stand for an answer of a provider.
  var neverLeft: Bool {
    switch self {
    case .credentialMissing, .subjectMissing: true
    case .transient(let kind, _, _):
      switch kind {
      case .networkUnavailable, .timeout, .tlsFailed, .tlsPinMismatch, .overloaded, .cancelled, .internal,
        .shuttingDown, .configInvalid:
        true
      default: false
      }
    default: false
    }
  }

  /// Whether the provider wants the same request again with another proof of possession, and has spent nothing.
  var wantsProof: Bool { if case .transient(_, _, .proofWanted?) = self { true } else { false } }

  /// Whether a code that was to be checked was certainly not examined.
  var leavesCodeUnseen: Bool {
    switch self {
    case .transient, .unsupported: true
    default: neverLeft
    }
  }

  /// How long the provider wants to be left alone, where it says so.
  var retryAfter: Duration? {
    switch self {
    case .refused(_, _, let retryAfter, _), .transient(_, let retryAfter, _), .outcomeUnknown(_, let retryAfter):
      retryAfter
    case .rejected(let rejection): rejection.retryAfter
    case .rotated(let rotated): rotated.rejection.retryAfter
    case .subjectMissing(let error): error.retryAfter
    case .sessionEnded, .reauthenticationRequired, .challenged, .tokenRefused, .misconfigured, .credentialMissing,
      .unsupported:
      nil
    }
  }

  /// The provider condition that must be seen before the same call is worth an immediate retry; nil where only time
  /// helps, or the provider itself has named a time.
  var endsWith: ProviderCondition? {
    guard retryAfter == nil else { return nil }
    switch kind {
    case .networkUnavailable, .timeout, .tlsFailed: return .reached
    case .providerUnavailable, .rateLimited, .invalidResponse: return .serving
    case .providerRejected: return .accepting
    default: return nil
    }
  }

  /// The error that a client sees.
  package var kind: ErrorKind {
    switch self {
    case .misconfigured(.redirectPort), .misconfigured(.issuer), .misconfigured(.embeddedFiles): .configInvalid
    case .refused(let kind, _, _, _), .transient(let kind, _, _), .outcomeUnknown(let kind, _): kind
    case .rejected(let rejection): rejection.kind
    case .rotated(let rotated): rotated.rejection.kind
    case .misconfigured(.movedResource), .misconfigured(.registration): .reauthRequired
    case .sessionEnded: .sessionExpired
    case .reauthenticationRequired, .challenged: .reauthRequired
    case .tokenRefused, .misconfigured: .providerRejected
    case .credentialMissing(let credential): credential.kind
    case .subjectMissing(let error): error.kind
    case .unsupported: .unsupportedByProvider
    }
  }
}

extension ProviderFailure {
  /// Whether the provider locks an account against guesses, for a while or for good.
  var isLockout: Bool {
    switch self {
    case .refused(.accountLocked, _, _, _), .refused(.tooManyAttempts, _, _, _): true
    default: false
    }
  }

  /// Whether a refusal of an e-mail address may reveal whether there is an account of this address.
  ///
  /// It may wherever the provider itself has examined the address. A refusal of anyone's request reveals nothing: too
  /// many of them, a captcha, a client that is not accepted, something that it cannot do; nor does a failure on the
  /// way.
  var mayTellOfAccount: Bool {
    switch self {
    case .refused(let kind, _, _, _):
      switch kind {
      case .rateLimited, .tooManyAttempts, .captchaRequired, .unsupportedByProvider, .missingCredential: false
      default: true
      }
    case .sessionEnded, .reauthenticationRequired, .challenged, .tokenRefused: true
    case .transient, .outcomeUnknown, .misconfigured, .rejected, .rotated, .credentialMissing, .subjectMissing,
      .unsupported:
      false
    }
  }
}

extension BrokerError {
  /// The error that a client sees when a provider refused or failed; `profile` is nil for a call of no profile's.
  package init(_ failure: ProviderFailure, profile: ProfileName?) {
    self.init(failure.kind, profile: profile)
    switch failure {
    case .refused(_, let attempts, let retryAfter, let fields):
      attemptsRemaining = attempts
      self.retryAfter = retryAfter
      self.fields = fields
    case .transient(_, let retryAfter, let cause):
      mayPass()
      self.retryAfter = retryAfter
      if let cause { message = cause.message }
    case .outcomeUnknown(_, let retryAfter): self.retryAfter = retryAfter
    case .misconfigured(let fault):
      message = fault.message
      nextAction = fault.needsLogin ? .login : .fixConfig
    case .credentialMissing(let credential):
      message = credential.message
      nextAction = .fixConfig
    case .subjectMissing(let error):
      self = error
      if nextAction == .login, let profile, let subject = error.profile, subject != profile {
        message = "The tokens of \(profile) are issued for those of \(subject), which needs a login."
      }
    case .rejected(let rejection): explain(rejection)
    case .rotated(let rotated): explain(rotated.rejection)
    case .sessionEnded, .reauthenticationRequired, .challenged, .tokenRefused, .unsupported: break
    }
  }

  /// Notes that the same request may succeed later, whatever usually holds for the kind.
  mutating func mayPass() {
    isRetryable = true
    if nextAction == .contactProvider { nextAction = .wait }
  }

  /// Names the time of the next try, where that may succeed by itself: what someone must fix has none.
  mutating func wait(_ pause: Duration) { retryAfter = isRetryable ? pause : nil }

  /// Adds the provider's own word, and the setting to check.
  private mutating func explain(_ rejection: ProviderRejection) {
    if let sentence = rejection.message { message = sentence }
    if rejection.fault != nil { nextAction = .fixConfig }
    retryAfter = rejection.retryAfter
    // The next token is of the same type.
    if rejection.isOfForeignType { isRetryable = false }
  }

  /// The error where the provider's reply to a credential that works once was lost: the provider may have used it up, so
  /// that sending it again proves nothing.
  ///
  /// - Parameters:
  ///   - kind: how the reply was lost.
  ///   - credential: what was sent, as a user calls it.
  ///   - profile: whose request it was.
  init(lostReply kind: ErrorKind, to credential: String, profile: ProfileName) {
    self.init(
      kind, "The provider's reply was lost, and the \(credential) may be used up; log in again.", profile: profile)
    isRetryable = false
    nextAction = .login
  }
}
