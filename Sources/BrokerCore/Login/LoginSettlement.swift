import BrokerProtocol

/// What of a login waits for the store.
enum LoginSettlement: Sendable {
  /// Its session: everyone who waits for the login is answered then.
  case session(IssuedSession, LoginOrigin)
  /// A login that waits for its code or its user: the attempt that has begun it is answered then.
  case pending(PendingLoginStep, attempt: UInt64)
  /// Another code: its caller is answered then.
  case resent(OTPChallenge, to: CallerID)
  /// The end of a login: everyone who waits for its user, or has cancelled it, is answered then.
  case ended(PendingLogin, LoginEnd)
  /// The removal of the records of logins that are over.
  case closed([ProfileName])
}
