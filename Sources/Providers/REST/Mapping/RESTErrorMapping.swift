package import BrokerProtocol

/// The meanings of refusals, beyond their usual meaning.
package struct RESTErrorMapping: Sendable, Equatable {
  /// The paths of the backend's own error name: the first at which a string stands counts.
  package var code: [RESTPath]
  /// The meanings of the backend's names.
  package var kinds: [String: ErrorKind]

  /// The kinds that a backend's name can mean: what a provider can have to say.
  package static let possibleKinds: [ErrorKind] = [
    .loginRequired, .sessionExpired, .reauthRequired, .invalidCredentials, .otpInvalid, .otpExpired, .flowNotFound,
    .backupCodeInvalid, .resendTooSoon, .tooManyAttempts, .accountLocked, .emailUnverified, .emailTaken,
    .validationFailed, .captchaRequired, .providerUnavailable, .rateLimited, .providerRejected, .forbidden,
    .insufficientScope, .unsupportedByProvider,
  ]

  /// The standard mapping.
  init() {
    code = ["error", "code", "type", "error.code"].map { RESTPath($0) }
    kinds = [:]
  }
}
