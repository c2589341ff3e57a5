public import JSON

/// A session has ended: log in again.
public struct SessionExpiredEvent: ObjectCodable, Equatable {
  /// Why a session has ended.
  public enum Reason: String, Sendable, CaseIterable {
    case refreshRejected, refreshTokenExpired, noRefreshToken, idleTimeout, refreshOutcomeUnknown, securityTermination
  }

  /// Why the session has ended.
  public var reason: Reason
  /// One plain sentence, where the reason alone leaves open what has happened.
  public var message: String?
  /// The provider's own words; no client gets them.
  package var lastWord = ProviderLastWord()

  public init(reason: Reason, message: String? = nil) {
    self.reason = reason
    self.message = message
  }

  public static let blank = SessionExpiredEvent(reason: .noRefreshToken)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("reason", &reason, .name("a known reason"))
    try coder.optional("message", &message)
  }
}

/// A provider's words for the end of a session, for the log: the failure is the same whatever they are.
package struct ProviderLastWord: Sendable, Equatable {
  /// The status of its reply (RFC 9110, section 15).
  package var status: Int?
  /// The name of its error, fit to be shown as it is.
  package var error: String?

  package init(status: Int? = nil, error: String? = nil) {
    self.status = status
    self.error = error
  }

  package static func == (_: ProviderLastWord, _: ProviderLastWord) -> Bool { true }
}

extension SessionExpiredEvent.Reason {
  /// Why the session has ended, as a sentence.
  public var sentence: String {
    switch self {
    case .refreshRejected: "The session has ended: the provider rejected its refresh token."
    case .refreshTokenExpired: "The session has ended: its refresh token has expired."
    case .noRefreshToken: "The session has ended: its access token has expired, and there is no refresh token."
    case .idleTimeout: "The session has ended: it was not used for longer than idleTimeoutSeconds."
    case .refreshOutcomeUnknown: "The session has ended: the reply to a refresh was lost."
    case .securityTermination: "The session has ended for security: a refresh returned another user's tokens."
    }
  }

  /// The explanation, where a user would otherwise look for a mistake of their own; nil where the name is enough.
  public var explanation: String? {
    switch self {
    case .refreshOutcomeUnknown:
      "The reply to a refresh was lost before its tokens were saved, and the provider does not take the spent refresh "
        + "token again (no grace for that is known: rotationGraceSeconds)."
    case .refreshRejected, .refreshTokenExpired, .noRefreshToken, .idleTimeout, .securityTermination: nil
    }
  }
}
