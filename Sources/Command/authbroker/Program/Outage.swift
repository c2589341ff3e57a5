import BrokerProtocol

/// Why a session is offline, as far as its last events tell.
struct Outage: Equatable {
  /// The events that tell of it.
  static let events: [EventName] = [.login, .tokenRefreshed, .refreshFailed]

  /// The error of the last refresh; nil where it is unknown.
  private(set) var kind: ErrorKind?
  /// When the first refresh failed since one had succeeded; nil: that is not known.
  private(set) var since: Timestamp?
  /// When the next attempt is made; nil: that is not known.
  private(set) var nextAttempt: Timestamp?

  /// Reads what happened to a profile, in order.
  init(of profile: ProfileName, in events: [BrokerEvent]) {
    // Without the last success, it is not known how many failures there were before the first that is still kept.
    var isWell = false
    for event in events where event.profile == profile {
      switch event.payload {
      case .login, .tokenRefreshed:
        isWell = true
        (kind, since, nextAttempt) = (nil, nil, nil)
      case .refreshFailed(let failure):
        if isWell { since = event.time }
        isWell = false
        (kind, nextAttempt) = (ErrorKind(rawValue: failure.kind), failure.nextAttemptAt)
      default: break
      }
    }
  }

  /// The message, with the command that helps.
  func message(for session: Session, at now: Timestamp) -> Message {
    let beginning = since.map { "offline since \(LocalTime.clock($0, now: now)): " } ?? "offline: "
    return Message(
      beginning + why + "; " + whatComes(session.accessTokenExpiresAt, now), next: advice(session.profile))
  }

  private var isLost: Bool { kind == .refreshOutcomeUnknown }

  private var why: String {
    guard let kind else { return "its last refresh returned no token, or its reply was lost" }
    guard !isLost else {
      return "the reply to its refresh was lost, and it is not known whether the provider has replaced the refresh"
        + " token"
    }
    return BrokerSentence.plain(kind.message)
  }

  private func whatComes(_ end: Timestamp?, _ now: Timestamp) -> String {
    let isAlive = end.map { $0 > now } ?? true
    let token =
      isAlive
      ? "the access token is valid" + (end.map { " until \(LocalTime.clock($0, now: now))" } ?? "")
      : "the access token has expired"
    guard let next = nextAttempt else { return token + ", and the refresh is retried automatically" }
    guard next > now else { return token + ", and the refresh is tried again when a token is asked for" }
    return token + ", and the refresh is "
      + (next == end ? "then tried again" : "tried again \(LocalTime.relative(next, now: now))")
  }

  private func advice(_ profile: ProfileName) -> NextCommand {
    switch kind {
    case .refreshOutcomeUnknown: NextCommand("to begin a new session without waiting", "login").on(profile)
    // Nothing of the provider's.
    case .storeFailed, .vaultLocked, .vaultTampered, .keySourceUnavailable, .overloaded, .internal:
      NextCommand("see", "doctor")
    case .configInvalid: NextCommand("see", "config", "check")
    default: NextCommand("see what is wrong with", "provider-check", profile.description)
    }
  }
}
