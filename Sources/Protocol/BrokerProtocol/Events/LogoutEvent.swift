public import JSON

/// A session was ended by hand.
public struct LogoutEvent: ObjectCodable, Equatable {
  /// Why a session was ended.
  public enum Reason: String, Sendable, CaseIterable {
    case user, accountDeleted, passwordReset, providerChanged
  }

  /// Why the session was ended.
  public var reason: Reason

  public init(reason: Reason) {
    self.reason = reason
  }

  public static let blank = LogoutEvent(reason: .user)

  public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
    try coder.required("reason", &reason, .name("a known reason"))
  }
}
