package import BrokerProtocol

/// What refusals mean, beyond their usual meaning.
package struct RESTErrorMapping: Sendable, Equatable {
  /// Where the backend's own name of an error is: the first path at which a string stands.
  package var code: [RESTPath]
  /// What the backend's names mean.
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
