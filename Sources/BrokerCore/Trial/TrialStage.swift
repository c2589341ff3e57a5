/// One thing that a trial of a provider looks at, in order; the names of findings.
package enum TrialStage: String, Sendable, CaseIterable {
  case wrongPassword, login, token, user, refresh, rotation, refreshAgain, reuse, logout, accessAfterLogout
  case refreshAfterLogout

  /// What it shows where all is well, as the end of "it shows that".
  package var meaning: String {
    switch self {
    case .wrongPassword: "a wrong password is refused, and told from other trouble"
    case .login: "the credentials are accepted, and tokens come back"
    case .token: "the access token says how long it lives and what it is good for"
    case .user: "the provider says whose session it is"
    case .refresh: "the refresh token gives another access token"
    case .rotation: "the profile's rotation settings fit what the provider does"
    case .refreshAgain: "the refresh token that came then is good for the next one"
    case .reuse: "a refresh token that was spent is refused"
    case .logout: "the session is ended at the provider"
    case .accessAfterLogout: "the access token is refused after that"
    case .refreshAfterLogout: "the refresh token is refused after that"
    }
  }
}
