/// The stable names of everything that can go wrong, as clients see them.
///
/// Codes from -32768 to -32000 are JSON-RPC's (section 5.1); the broker's own are small positive numbers.
public enum ErrorKind: String, Sendable, CaseIterable {
  // JSON-RPC and the language-server protocol.
  case parseError, invalidRequest, messageTooLarge, methodNotFound, invalidParams, `internal`, cancelled
  // The caller must log in or answer.
  case loginRequired, sessionExpired, challengePending, refreshOutcomeUnknown, reauthRequired
  // Credentials.
  case invalidCredentials, missingCredential, otpInvalid, otpExpired, flowNotFound, backupCodeInvalid, resendTooSoon
  case tooManyAttempts, accountLocked, emailUnverified, emailTaken, validationFailed, captchaRequired
  // Provider and network.
  case networkUnavailable, timeout, providerUnavailable, rateLimited, providerRejected, invalidResponse, tlsFailed
  case tlsPinMismatch, forbidden, insufficientScope, unsupportedByProvider
  // Vault.
  case vaultLocked, wrongPassphrase, vaultTampered, storeFailed, keySourceUnavailable
  // Broker.
  case unknownProfile, accessDenied, consentDenied, overloaded, shuttingDown, configInvalid, versionUnsupported
  case deadlineExceeded

  /// The number on the wire.
  public var code: Int {
    Self.codes[self] ?? -32603
  }

  private static let codes: [ErrorKind: Int] = {
    var codes: [ErrorKind: Int] = [
      .parseError: -32700, .invalidRequest: -32600, .messageTooLarge: -32600, .methodNotFound: -32601,
      .invalidParams: -32602, .internal: -32603, .cancelled: -32800,
    ]
    let groups: [(first: Int, kinds: [ErrorKind])] = [
      (1001, [.loginRequired, .sessionExpired, .challengePending, .refreshOutcomeUnknown, .reauthRequired]),
      (
        1020,
        [
          .invalidCredentials, .missingCredential, .otpInvalid, .otpExpired, .flowNotFound, .backupCodeInvalid,
          .resendTooSoon, .tooManyAttempts, .accountLocked, .emailUnverified, .emailTaken, .validationFailed,
          .captchaRequired,
        ]
      ),
      (
        1040,
        [
          .networkUnavailable, .timeout, .providerUnavailable, .rateLimited, .providerRejected, .invalidResponse,
          .tlsFailed, .tlsPinMismatch, .forbidden, .insufficientScope, .unsupportedByProvider,
        ]
      ),
      (1060, [.vaultLocked, .wrongPassphrase, .vaultTampered, .storeFailed, .keySourceUnavailable]),
      (
        1080,
        [
          .unknownProfile, .accessDenied, .consentDenied, .overloaded, .shuttingDown, .configInvalid,
          .versionUnsupported, .deadlineExceeded,
        ]
      ),
    ]
    for group in groups {
      for (offset, kind) in group.kinds.enumerated() { codes[kind] = group.first + offset }
    }
    return codes
  }()
}
