/// The names of the events that this version publishes; ``EventPayload`` says what each of them tells.
public enum EventName: String, Sendable, CaseIterable {
  case login, logout, sessionExpired, sessionEnding, tokenRefreshed, refreshFailed, userUpdated
  case otpChallenge, otpResent
  case loginPending, loginFailed, backupCodeUsed, unauthorized, forbidden, networkDown, networkUp
  case vaultLocked, vaultUnlocked, configReloaded, shuttingDown, securityAlert, eventsLost
  case consentRequested
  case requestCompleted, requestFailed, queuePaused

  /// Whether the event is only passed on, and not kept for later subscribers.
  public var isTransient: Bool {
    switch self {
    case .unauthorized, .forbidden, .networkDown, .networkUp, .vaultLocked, .vaultUnlocked, .shuttingDown, .eventsLost,
      .consentRequested:
      true
    default: false
    }
  }

  /// Whether the event says that a session has begun or ended, or that something looks like an attack.
  ///
  /// Such events are kept apart: no flood of others pushes them out.
  public var isLasting: Bool {
    switch self {
    case .login, .logout, .sessionExpired, .securityAlert: true
    default: false
    }
  }
}
