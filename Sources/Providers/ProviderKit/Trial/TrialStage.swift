/// One thing that a trial of a provider checks, in order; the names of findings.
package enum TrialStage: String, Sendable, CaseIterable {
  case wrongPassword, login, token, user, refresh, rotation, refreshAgain, reuse, logout, accessAfterLogout
  case refreshAfterLogout

  /// The meaning of a success, as the end of "it shows that".
  var meaning: String {
    switch self {
    case .wrongPassword: "a wrong password is rejected, with an error of its own"
    case .login: "the credentials are accepted, and tokens are issued"
    case .token: "the access token has an expiry and the requested scopes"
    case .user: "the provider names the user of the session"
    case .refresh: "a refresh returns another access token"
    case .rotation: "the profile's rotation settings match the provider"
    case .refreshAgain: "the new refresh token works for the next refresh"
    case .reuse: "a spent refresh token is rejected"
    case .logout: "the session is ended at the provider"
    case .accessAfterLogout: "the access token is rejected after that"
    case .refreshAfterLogout: "the refresh token is rejected after that"
    }
  }
}
