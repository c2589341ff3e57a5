/// What many methods answer for the same reason, for their ``MethodDocument``.
extension ErrorKind {
  /// What every method may answer.
  public static let everywhere: [ErrorKind] = [
    .parseError, .invalidRequest, .messageTooLarge, .invalidParams, .overloaded, .shuttingDown, .cancelled, .internal,
  ]

  /// The errors of a method that is about one profile and needs the open vault.
  static let ofProfile: [ErrorKind] = [.unknownProfile, .vaultLocked]

  /// The errors of a method that needs a session: there may be none, or its tokens cannot be refreshed.
  static let ofSession: [ErrorKind] = [
    .loginRequired, .sessionExpired, .challengePending, .refreshOutcomeUnknown, .reauthRequired, .vaultTampered,
    .storeFailed, .deadlineExceeded,
  ]

  /// The errors of any request to a provider: it cannot be reached, cannot answer, or does not do this for this client.
  static let ofProvider: [ErrorKind] = [
    .networkUnavailable, .timeout, .tlsFailed, .tlsPinMismatch, .providerUnavailable, .rateLimited, .providerRejected,
    .invalidResponse, .forbidden, .unsupportedByProvider, .configInvalid,
  ]

  /// The errors of credentials that start a session.
  static let ofLogin: [ErrorKind] = [
    .invalidCredentials, .missingCredential, .tooManyAttempts, .accountLocked, .emailUnverified, .validationFailed,
    .captchaRequired, .consentDenied, .storeFailed, .reauthRequired,
  ]

  /// The errors of a code that goes on with a login.
  static let ofCode: [ErrorKind] = [
    .flowNotFound, .otpExpired, .tooManyAttempts, .accountLocked, .accessDenied, .consentDenied, .storeFailed,
    .reauthRequired,
  ]

  /// The errors of opening the vault, and of re-encrypting it.
  static let ofKey: [ErrorKind] = [
    .vaultLocked, .wrongPassphrase, .vaultTampered, .storeFailed, .keySourceUnavailable,
  ]

  /// The errors of what the owner of the state directory asks the embedded provider: there may be none, and its files may
  /// be damaged.
  static let ofDirectory: [ErrorKind] = [
    .accessDenied, .vaultLocked, .unsupportedByProvider, .providerUnavailable, .configInvalid,
  ]
}
