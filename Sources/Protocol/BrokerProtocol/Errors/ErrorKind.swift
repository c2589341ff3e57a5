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
  case deadlineExceeded, unknownTarget

  /// The number on the wire.
  public var code: Int {
    switch self {
    case .parseError: -32700
    case .invalidRequest, .messageTooLarge: -32600
    case .methodNotFound: -32601
    case .invalidParams: -32602
    case .internal: -32603
    case .cancelled: -32800
    case .loginRequired: 1001
    case .sessionExpired: 1002
    case .challengePending: 1003
    case .refreshOutcomeUnknown: 1004
    case .reauthRequired: 1005
    case .invalidCredentials: 1020
    case .missingCredential: 1021
    case .otpInvalid: 1022
    case .otpExpired: 1023
    case .flowNotFound: 1024
    case .backupCodeInvalid: 1025
    case .resendTooSoon: 1026
    case .tooManyAttempts: 1027
    case .accountLocked: 1028
    case .emailUnverified: 1029
    case .emailTaken: 1030
    case .validationFailed: 1031
    case .captchaRequired: 1032
    case .networkUnavailable: 1040
    case .timeout: 1041
    case .providerUnavailable: 1042
    case .rateLimited: 1043
    case .providerRejected: 1044
    case .invalidResponse: 1045
    case .tlsFailed: 1046
    case .tlsPinMismatch: 1047
    case .forbidden: 1048
    case .insufficientScope: 1049
    case .unsupportedByProvider: 1050
    case .vaultLocked: 1060
    case .wrongPassphrase: 1061
    case .vaultTampered: 1062
    case .storeFailed: 1063
    case .keySourceUnavailable: 1064
    case .unknownProfile: 1080
    case .accessDenied: 1081
    case .consentDenied: 1082
    case .overloaded: 1083
    case .shuttingDown: 1084
    case .configInvalid: 1085
    case .versionUnsupported: 1086
    case .deadlineExceeded: 1087
    case .unknownTarget: 1088
    }
  }
}
