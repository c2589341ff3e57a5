package import BrokerProtocol

/// Why a pending login is over, or rests.
package enum LoginEnd: Sendable, Equatable {
  /// The reason that the error kind names.
  case of(ErrorKind)
  /// The provider rejects the configuration of the profile.
  case misconfigured(ConfigurationFault)
  /// The provider's answer cannot be used.
  case rejected(ProviderRejection)
  /// A credential of the client could not be had.
  case credentialMissing(MissingCredential)
  /// The provider no longer knows the code that a browser brought, or that a device was shown.
  case codeRefused
  /// Another login of the profile has taken its place.
  case replaced
  /// Its session would have replaced another user's living one, which its connection may not replace.
  case keepsSession
  /// The provider's reply to a code was lost: it may have used the code up.
  case replyLost(ErrorKind)

  /// The error that a client sees.
  package var kind: ErrorKind {
    switch self {
    case .of(let kind), .replyLost(let kind): kind
    case .misconfigured(let fault): ProviderFailure.misconfigured(fault).kind
    case .rejected(let rejection): rejection.kind
    case .credentialMissing(let credential): credential.kind
    case .codeRefused: .providerRejected
    case .replaced: .flowNotFound
    case .keepsSession: .reauthRequired
    }
  }

  /// The end that follows from the failure of a user action.
  init(actionFailed failure: ProviderFailure) {
    switch failure {
    case .misconfigured(let fault): self = .misconfigured(fault)
    case .rejected(let rejection): self = .rejected(rejection)
    case .rotated(let rotated): self = .rejected(rotated.rejection)
    case .refused(.flowNotFound, _, _, _): self = .codeRefused
    case .sessionEnded: self = .of(.otpExpired)
    case .tokenRefused, .reauthenticationRequired, .challenged: self = .of(.providerRejected)
    case .outcomeUnknown(let kind, _): self = .replyLost(kind)
    case .credentialMissing(let credential): self = .credentialMissing(credential)
    case .refused, .transient, .subjectMissing, .unsupported: self = .of(failure.kind)
    }
  }

  /// The message for a code that the provider rejects (RFC 6749, section 5.2, `invalid_grant`).
  static let refusedCode =
    "The provider rejected the authorization code: it was used before or has expired; log in again."

  private static let refusedDeviceCode =
    "The provider rejected the device code: it was used before or has expired; log in again."

  /// The error for the callers that wait for the login.
  package func error(_ step: PendingLoginStep) -> BrokerError {
    switch self {
    case .of(let kind): BrokerError(kind, endOf: step)
    case .misconfigured(let fault): BrokerError(.misconfigured(fault), profile: step.profile)
    case .rejected(let rejection): BrokerError(.rejected(rejection), profile: step.profile)
    case .credentialMissing(let credential): BrokerError(.credentialMissing(credential), profile: step.profile)
    case .codeRefused: refusal(of: step)
    case .replaced: BrokerError(kind, "Another login of this profile has replaced this one.", profile: step.profile)
    case .keepsSession: .keeping(step.profile)
    case .replyLost(let kind): BrokerError(lostReply: kind, to: "code", profile: step.profile)
    }
  }

  /// The error for a code that the provider rejects: the configuration is right, and another login brings another code.
  private func refusal(of step: PendingLoginStep) -> BrokerError {
    let sentence = step.action?.kind == .deviceCode ? Self.refusedDeviceCode : Self.refusedCode
    var error = BrokerError(kind, sentence, profile: step.profile)
    error.nextAction = .login
    return error
  }
}
