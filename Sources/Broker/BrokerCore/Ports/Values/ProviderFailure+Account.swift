import BrokerProtocol

extension ProviderFailure {
  /// Whether the provider keeps an account from guesses, for a while or for good.
  var isLockout: Bool {
    switch self {
    case .refused(.accountLocked, _, _, _), .refused(.tooManyAttempts, _, _, _): true
    default: false
    }
  }

  /// Whether a refusal of an e-mail address may tell that there is, or is not, an account of this address.
  ///
  /// It may wherever the provider itself has examined the address. What it says of everyone's request tells nothing: too
  /// many of them, a captcha, a client that is not accepted, something that it cannot do; nor does what went wrong on the
  /// way.
  var mayTellOfAccount: Bool {
    switch self {
    case .refused(let kind, _, _, _):
      switch kind {
      case .rateLimited, .tooManyAttempts, .captchaRequired, .unsupportedByProvider, .missingCredential: false
      default: true
      }
    case .sessionEnded, .reauthenticationRequired, .challenged, .tokenRefused: true
    case .transient, .outcomeUnknown, .misconfigured, .rejected, .rotated, .unsupported: false
    }
  }
}
