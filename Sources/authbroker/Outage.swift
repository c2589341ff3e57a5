import BrokerProtocol

/// Why a session is offline, as far as its last events tell.
struct Outage: Equatable {
  /// The events that tell of it.
  static let events: [EventName] = [.login, .tokenRefreshed, .refreshFailed]

  /// What the last refresh ended with; nil: that is not known.
  private(set) var kind: ErrorKind?
  /// When the first refresh failed since one had succeeded; nil: that is not known.
  private(set) var since: Timestamp?
  /// When the next attempt is made; nil: that is not known.
  private(set) var nextAttempt: Timestamp?

  /// Reads what happened to a profile, in order.
  init(of profile: ProfileName, in events: [BrokerEvent]) {
    // Without the last success, nobody knows how many failures there were before the first that is still kept.
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

  /// One sentence for people, and the command that helps.
  func sentence(for session: Session, at now: Timestamp) -> String {
    let beginning = since.map { "offline since \(LocalTime.clock($0, now: now)): " } ?? "offline: "
    return beginning + why + "; " + whatComes(session.accessTokenExpiresAt, now) + ". " + advice(session.profile)
  }

  private var isLost: Bool { kind == .refreshOutcomeUnknown }

  private var why: String {
    guard let kind else { return "its last refresh has not brought a token, or its reply was lost" }
    guard !isLost else {
      return "the reply to its refresh was lost, so nobody knows whether the provider has replaced the refresh token"
    }
    let sentence = kind.message
    return sentence.prefix(1).lowercased() + sentence.dropFirst().dropLast()
  }

  private func whatComes(_ end: Timestamp?, _ now: Timestamp) -> String {
    let isAlive = end.map { $0 > now } ?? true
    let token =
      isAlive
      ? "the access token is given out" + (end.map { " until \(LocalTime.clock($0, now: now))" } ?? "")
      : "the access token has ended"
    guard let next = nextAttempt else { return token + ", and the refresh is tried again by itself" }
    guard next > now else { return token + ", and the refresh is tried again when a token is asked for" }
    return token + ", and the refresh is "
      + (next == end ? "then tried again" : "tried again \(LocalTime.relative(next, now: now))")
  }

  private func advice(_ profile: ProfileName) -> String {
    guard isLost else { return "See what is wrong with: authbroker provider-check \(profile)" }
    let option = profile == .default ? "" : " --profile \(profile)"
    return "Whoever does not want to wait begins a new session with: authbroker login" + option
  }
}
