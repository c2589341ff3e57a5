import BrokerCore
import BrokerProtocol

/// Why something cannot be examined.
extension ProviderTrial {
  /// A sentence for the reader of the findings; nil where nothing stands in the way.
  func obstacle(_ stage: TrialStage) -> String? {
    switch stage {
    case .wrongPassword: credentials.method == .password ? nil : "This login method has no password."
    case .login: nil
    case _ where !passed.contains(.login): "There is no session."
    case .token, .logout: nil
    case .user: userObstacle
    case .refresh: refreshObstacle
    case .rotation, .refreshAgain: refreshObstacle ?? (passed.contains(.refresh) ? nil : "The first refresh failed.")
    case .reuse: reuseObstacle
    case .accessAfterLogout: logoutObstacle ?? userObstacle.map { _ in Self.nothingToAsk }
    case .refreshAfterLogout: logoutObstacle ?? refreshObstacle
    }
  }

  private static let nothingToAsk =
    "Not checked: the provider has no endpoint to try the access token at."

  private var userObstacle: String? {
    guard credentials.method != .clientCredentials else { return "A client's own session has no user." }
    return subject.abilities.contains(.getCurrentUser) ? nil : "The provider has no endpoint for the user."
  }

  private var refreshObstacle: String? {
    tokens?.refreshToken == nil ? "The provider issued no refresh token." : nil
  }

  private var reuseObstacle: String? {
    guard passed.contains(.refresh) else { return refreshObstacle ?? "The first refresh failed." }
    return rotates ? nil : "The provider does not rotate refresh tokens: the same one is used again."
  }

  private var logoutObstacle: String? {
    guard !isBurnt else { return "The session may have ended already, because the refresh token was used twice." }
    return passed.contains(.logout) ? nil : "Not checked: the session was not ended at the provider."
  }
}
