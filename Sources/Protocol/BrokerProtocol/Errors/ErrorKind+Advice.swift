extension ErrorKind {
  /// The caller's next step, unless the error itself has a better one.
  public var nextAction: NextAction {
    switch self {
    case .loginRequired, .sessionExpired, .flowNotFound, .otpExpired, .invalidCredentials: .login
    case .challengePending, .otpInvalid, .backupCodeInvalid: .verifyOtp
    case .refreshOutcomeUnknown, .resendTooSoon, .tooManyAttempts, .rateLimited, .providerUnavailable: .wait
    case .reauthRequired: .reauthenticate
    case .networkUnavailable, .timeout, .overloaded, .shuttingDown, .storeFailed, .deadlineExceeded: .retry
    case .vaultLocked, .wrongPassphrase: .unlock
    case .parseError, .invalidRequest, .messageTooLarge, .methodNotFound, .invalidParams, .missingCredential,
      .validationFailed, .versionUnsupported, .emailTaken, .insufficientScope:
      .fixRequest
    case .configInvalid, .unknownProfile, .unknownTarget, .keySourceUnavailable, .tlsPinMismatch, .tlsFailed: .fixConfig
    case .providerRejected, .invalidResponse, .emailUnverified, .captchaRequired, .forbidden, .accountLocked:
      .contactProvider
    case .cancelled, .internal, .vaultTampered, .accessDenied, .consentDenied, .unsupportedByProvider: .none
    }
  }

  /// Whether the same request may succeed later without anybody changing anything.
  public var isRetryable: Bool {
    switch self {
    case .networkUnavailable, .timeout, .providerUnavailable, .rateLimited, .invalidResponse, .overloaded,
      .shuttingDown, .storeFailed, .deadlineExceeded, .resendTooSoon, .refreshOutcomeUnknown:
      true
    default: false
    }
  }

  /// One plain sentence, for errors that have nothing better to say.
  public var message: String {
    switch self {
    case .parseError: "The message is not valid JSON."
    case .invalidRequest: "The message is not a JSON-RPC 2.0 request."
    case .messageTooLarge: "The message is longer than this broker accepts."
    case .methodNotFound: "The method is unknown."
    case .invalidParams: "A parameter is invalid."
    case .internal: "The broker could not do this; its log says why."
    case .cancelled: "The request was cancelled."
    case .loginRequired: "The profile has no session."
    case .sessionExpired: "The session has ended."
    case .challengePending: "A login is waiting for its one-time code."
    case .refreshOutcomeUnknown: "The reply to the last refresh was lost, and its outcome is not known yet."
    case .reauthRequired: "This needs a recent login."
    default: adviceMessage
    }
  }

  private var adviceMessage: String {
    switch self {
    case .invalidCredentials: "The e-mail address or the password is wrong."
    case .missingCredential: "The provider requires a credential that was not given."
    case .otpInvalid: "The code is wrong."
    case .otpExpired: "The code has expired."
    case .flowNotFound: "The pending login is unknown; it may have been completed, replaced or expired."
    case .backupCodeInvalid: "The backup code is wrong or was used before."
    case .resendTooSoon: "Another code cannot be sent yet."
    case .tooManyAttempts: "Too many wrong attempts were made."
    case .accountLocked: "The provider has locked the account; logging in again will not unlock it."
    case .emailUnverified: "The e-mail address must be verified first."
    case .emailTaken: "An account with this e-mail address already exists."
    case .validationFailed: "The provider rejected a value."
    case .captchaRequired: "The provider requires a captcha, which only a browser can show."
    case .networkUnavailable: "The provider cannot be reached."
    case .timeout: "The provider did not answer in time."
    case .providerUnavailable: "The provider cannot answer at the moment."
    case .rateLimited: "Too many requests were sent."
    case .providerRejected: "The provider rejected the request."
    case .invalidResponse: "The provider's response is invalid."
    case .tlsFailed: "The provider's certificate cannot be trusted."
    case .tlsPinMismatch: "The provider's key matches none of the pins."
    default: brokerMessage
    }
  }

  private var brokerMessage: String {
    switch self {
    case .forbidden: "The provider forbids this."
    case .insufficientScope: "The session does not have the scopes that were asked for."
    case .unsupportedByProvider: "The provider of this profile cannot do this."
    case .vaultLocked: "The vault is locked."
    case .wrongPassphrase: "The passphrase is wrong."
    case .vaultTampered: "The vault's content has been modified."
    case .storeFailed: "The vault could not be written."
    case .keySourceUnavailable: "The vault's key cannot be read."
    case .unknownProfile: "The configuration has no such profile."
    case .unknownTarget: "The configuration has no target for this address."
    case .accessDenied: "This client may not do this."
    case .consentDenied: "The user did not agree."
    case .overloaded: "Too many requests are under way on this connection."
    case .shuttingDown: "The broker is shutting down."
    case .configInvalid: "The configuration is not valid."
    case .versionUnsupported: "This protocol version is not supported."
    default: "The request was not answered before its deadline."
    }
  }
}
