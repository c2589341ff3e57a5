package import BrokerProtocol

extension ProviderFailure {
  /// What is said where a login by this way comes to nothing; nil where the kind's own sentence fits.
  ///
  /// Not every login has a password, and a user who logged in elsewhere knows of no pending login.
  package func sentence(of method: LoginMethod) -> String? {
    switch (self, method) {
    case (.refused(.invalidCredentials, _, _, _), .refreshToken):
      "The provider rejected the refresh token: it is invalid, was used before or has expired."
    case (.refused(.invalidCredentials, _, _, _), .clientCredentials): ConfigurationFault.client.message
    case (.refused(.flowNotFound, _, _, _), .browser), (.refused(.flowNotFound, _, _, _), .deviceCode):
      LoginEnd.refusedCode
    default: nil
    }
  }
}

extension BrokerError {
  /// The error of a login by one of the ways.
  init(_ failure: ProviderFailure, of method: LoginMethod, profile: ProfileName) {
    if method == .refreshToken, case .outcomeUnknown(let kind, _) = failure {
      self.init(lostReply: kind, to: "refresh token", profile: profile)
      return
    }
    self.init(failure, profile: profile)
    guard let sentence = failure.sentence(of: method) else { return }
    message = sentence
    if method == .clientCredentials { nextAction = .fixConfig }
  }
}
