public import JSON

/// The payload of an event, by its name.
///
/// No token, code or password is ever in it.
public enum EventPayload: Sendable, Equatable {
  /// A user logged in.
  case login(LoginEvent)
  /// A session was ended by hand.
  case logout(LogoutEvent)
  /// A session has ended: log in again.
  case sessionExpired(SessionExpiredEvent)
  /// A session will end soon, as far as is known.
  case sessionEnding(SessionEndingEvent)
  /// There is a new access token.
  case tokenRefreshed(TokenRefreshedEvent)
  /// A refresh did not succeed.
  case refreshFailed(RefreshFailedEvent)
  /// The account's description changed.
  case userUpdated(UserUpdatedEvent)
  /// A login waits for a one-time code.
  case otpChallenge(OTPChallenge)
  /// Another code was sent.
  case otpResent(OTPChallenge)
  /// A login waits for something that its user does elsewhere; once more, as a reminder, at half of its time.
  case loginPending(UserAction)
  /// A login was refused, or has ended without a session.
  case loginFailed(LoginFailedEvent)
  /// A user logged in with a backup code.
  case backupCodeUsed(BackupCodeUsedEvent)
  /// One API call was refused for its token: not the end of a session.
  case unauthorized(RefusalEvent)
  /// One API call was forbidden: not the end of a session.
  case forbidden(RefusalEvent)
  /// The provider of the profile cannot be reached.
  case networkDown
  /// It can be reached again.
  case networkUp
  /// The vault's keys and every token were wiped from memory: `unlock` is needed.
  case vaultLocked
  /// The vault was opened again.
  case vaultUnlocked
  /// The configuration was read again.
  case configReloaded
  /// The broker stops.
  case shuttingDown
  /// Something looks like an attack.
  case securityAlert(SecurityAlertEvent)
  /// Events were dropped for a reader that was too slow.
  case eventsLost(EventsLostEvent)
  /// A client asks for a token that its rule gives with the owner's consent alone: for administrative connections.
  case consentRequested(ConsentQuestion)
  /// The API has answered a queued request.
  case requestCompleted(RequestCompletedEvent)
  /// A queued request has ended without an answer.
  case requestFailed(RequestFailedEvent)
  /// The queue of a profile waits for its owner.
  case queuePaused(QueuePausedEvent)

  /// The name on the wire.
  public var name: EventName {
    switch self {
    case .login: .login
    case .logout: .logout
    case .sessionExpired: .sessionExpired
    case .sessionEnding: .sessionEnding
    case .tokenRefreshed: .tokenRefreshed
    case .refreshFailed: .refreshFailed
    case .userUpdated: .userUpdated
    case .otpChallenge: .otpChallenge
    case .otpResent: .otpResent
    case .loginPending: .loginPending
    case .loginFailed: .loginFailed
    case .backupCodeUsed: .backupCodeUsed
    case .unauthorized: .unauthorized
    case .forbidden: .forbidden
    case .networkDown: .networkDown
    case .networkUp: .networkUp
    case .vaultLocked: .vaultLocked
    case .vaultUnlocked: .vaultUnlocked
    case .configReloaded: .configReloaded
    case .shuttingDown: .shuttingDown
    case .securityAlert: .securityAlert
    case .eventsLost: .eventsLost
    case .consentRequested: .consentRequested
    case .requestCompleted: .requestCompleted
    case .requestFailed: .requestFailed
    case .queuePaused: .queuePaused
    }
  }
}

extension EventPayload: JSONEncodable {
  /// Writes the event's `data`.
  public func encode(to writer: inout JSONWriter) {
    switch self {
    case .login(let data): data.encode(to: &writer)
    case .logout(let data): data.encode(to: &writer)
    case .sessionExpired(let data): data.encode(to: &writer)
    case .sessionEnding(let data): data.encode(to: &writer)
    case .tokenRefreshed(let data): data.encode(to: &writer)
    case .refreshFailed(let data): data.encode(to: &writer)
    case .userUpdated(let data): data.encode(to: &writer)
    case .otpChallenge(let data), .otpResent(let data): data.encode(to: &writer)
    case .loginPending(let data): data.encode(to: &writer)
    case .loginFailed(let data): data.encode(to: &writer)
    case .backupCodeUsed(let data): data.encode(to: &writer)
    case .unauthorized(let data), .forbidden(let data): data.encode(to: &writer)
    case .networkDown, .networkUp, .vaultLocked, .vaultUnlocked, .configReloaded, .shuttingDown: writer.object { _ in }
    case .securityAlert(let data): data.encode(to: &writer)
    case .eventsLost(let data): data.encode(to: &writer)
    case .consentRequested(let data): data.encode(to: &writer)
    case .requestCompleted(let data): data.encode(to: &writer)
    case .requestFailed(let data): data.encode(to: &writer)
    case .queuePaused(let data): data.encode(to: &writer)
    }
  }

  /// Reads the `data` of a named event.
  public init(name: EventName, from node: JSONNode) throws(JSONMismatch) {
    switch name {
    case .login: self = .login(try LoginEvent(from: node))
    case .logout: self = .logout(try LogoutEvent(from: node))
    case .sessionExpired: self = .sessionExpired(try SessionExpiredEvent(from: node))
    case .sessionEnding: self = .sessionEnding(try SessionEndingEvent(from: node))
    case .tokenRefreshed: self = .tokenRefreshed(try TokenRefreshedEvent(from: node))
    case .refreshFailed: self = .refreshFailed(try RefreshFailedEvent(from: node))
    case .userUpdated: self = .userUpdated(try UserUpdatedEvent(from: node))
    case .otpChallenge: self = .otpChallenge(try OTPChallenge(from: node))
    case .otpResent: self = .otpResent(try OTPChallenge(from: node))
    case .loginPending: self = .loginPending(try UserAction(from: node))
    case .loginFailed: self = .loginFailed(try LoginFailedEvent(from: node))
    case .backupCodeUsed: self = .backupCodeUsed(try BackupCodeUsedEvent(from: node))
    case .unauthorized: self = .unauthorized(try RefusalEvent(from: node))
    case .forbidden: self = .forbidden(try RefusalEvent(from: node))
    case .networkDown: self = .networkDown
    case .networkUp: self = .networkUp
    case .vaultLocked: self = .vaultLocked
    case .vaultUnlocked: self = .vaultUnlocked
    case .configReloaded: self = .configReloaded
    case .shuttingDown: self = .shuttingDown
    case .securityAlert: self = .securityAlert(try SecurityAlertEvent(from: node))
    case .eventsLost: self = .eventsLost(try EventsLostEvent(from: node))
    case .consentRequested: self = .consentRequested(try ConsentQuestion(from: node))
    case .requestCompleted: self = .requestCompleted(try RequestCompletedEvent(from: node))
    case .requestFailed: self = .requestFailed(try RequestFailedEvent(from: node))
    case .queuePaused: self = .queuePaused(try QueuePausedEvent(from: node))
    }
  }
}
