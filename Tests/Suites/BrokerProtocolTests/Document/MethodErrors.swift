import BrokerProtocol

/// What many methods answer for the same reason: the words beside kinds in the clause `- Throws:` of a method's comment.
enum MethodErrors {
  /// What every method may answer.
  static let everywhere: [ErrorKind] = [
    .parseError, .invalidRequest, .messageTooLarge, .invalidParams, .overloaded, .shuttingDown, .cancelled, .internal,
  ]

  static let groups: [String: [ErrorKind]] = [
    // A method that is about one profile and needs the open vault.
    "profile": [.unknownProfile, .vaultLocked],
    // A method that needs a session: there may be none, or its tokens cannot be refreshed.
    "session": [
      .loginRequired, .sessionExpired, .challengePending, .refreshOutcomeUnknown, .reauthRequired, .vaultTampered,
      .storeFailed, .deadlineExceeded,
    ],
    // Any request to a provider: it cannot be reached, cannot answer, or does not do this for this client.
    "provider": [
      .networkUnavailable, .timeout, .tlsFailed, .tlsPinMismatch, .providerUnavailable, .rateLimited, .providerRejected,
      .invalidResponse, .forbidden, .unsupportedByProvider, .configInvalid,
    ],
    // Credentials that start a session.
    "login": [
      .invalidCredentials, .missingCredential, .tooManyAttempts, .accountLocked, .emailUnverified, .validationFailed,
      .captchaRequired, .consentDenied, .storeFailed, .reauthRequired,
    ],
    // A code that goes on with a login.
    "code": [
      .flowNotFound, .otpExpired, .tooManyAttempts, .accountLocked, .accessDenied, .consentDenied, .storeFailed,
      .reauthRequired,
    ],
    // Opening the vault, and re-encrypting it.
    "key": [.vaultLocked, .wrongPassphrase, .vaultTampered, .storeFailed, .keySourceUnavailable],
    // What the owner of the state directory asks the embedded provider: there may be none, and its files may be damaged.
    "directory": [.accessDenied, .vaultLocked, .unsupportedByProvider, .providerUnavailable, .configInvalid],
  ]
}
