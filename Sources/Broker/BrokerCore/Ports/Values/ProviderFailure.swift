package import BrokerProtocol

/// Why a provider did not do what it was asked, by what that means for the session.
package enum ProviderFailure: Error, Sendable, Equatable {
  /// A credential, code or handle was refused; `attemptsRemaining` where the provider counts.
  case refused(ErrorKind, attemptsRemaining: Int? = nil, retryAfter: Duration? = nil, fields: [String]? = nil)
  /// The refresh token is definitively worthless: the one thing that ends a session.
  case sessionEnded(
    SessionExpiredEvent.Reason, alert: SecurityAlertEvent.Kind? = nil, said: ProviderLastWord = ProviderLastWord())
  /// The provider wants to see the user again before it goes on (OpenID Connect Core, section 3.1.2.6): that ends a
  /// session too.
  case reauthenticationRequired
  /// The provider wants a code of the user before it goes on, which it has asked for already: a refresh ends the session
  /// by that, and the code brings another one.
  case challenged(ProviderChallenge)
  /// A passing trouble, and the request was certainly not acted on.
  case transient(ErrorKind, retryAfter: Duration? = nil, cause: PassingCause? = nil)
  /// The request may or may not have been acted on: the reply was lost. A gateway in between may wish for patience.
  case outcomeUnknown(ErrorKind, retryAfter: Duration? = nil)
  /// The provider has answered in words that may pass, may be a fault of the configuration, or may mean the end.
  case rejected(ProviderRejection)
  /// The refresh token was spent for another one, and for nothing else that can be used.
  case rotated(RotatedToken)
  /// The access token was refused (RFC 6750, section 3.1, `invalid_token`): a fresh one may be accepted.
  case tokenRefused
  /// The provider does not accept what the profile is configured with: the session stays, and the configuration must be fixed.
  case misconfigured(ConfigurationFault)
  /// The provider cannot do this at all.
  case unsupported

  /// Whether the provider cannot even have seen the request: no answer of a provider is told by these kinds.
  var neverLeft: Bool {
    switch self {
    case .misconfigured(.secret), .misconfigured(.environmentSecret): true
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
    case .sessionEnded, .reauthenticationRequired, .challenged, .tokenRefused, .misconfigured, .unsupported: nil
    }
  }

  /// How well the provider must be seen to be before it is asked the same again at once; nil where only time helps, or the
  /// provider itself has named a time.
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
    case .misconfigured(.secret), .misconfigured(.environmentSecret), .misconfigured(.redirectPort),
      .misconfigured(.issuer),
      .misconfigured(.embeddedFiles):
      .configInvalid
    case .refused(let kind, _, _, _), .transient(let kind, _, _), .outcomeUnknown(let kind, _): kind
    case .rejected(let rejection): rejection.kind
    case .rotated(let rotated): rotated.rejection.kind
    case .sessionEnded: .sessionExpired
    case .reauthenticationRequired, .challenged: .reauthRequired
    case .tokenRefused, .misconfigured: .providerRejected
    case .unsupported: .unsupportedByProvider
    }
  }
}
