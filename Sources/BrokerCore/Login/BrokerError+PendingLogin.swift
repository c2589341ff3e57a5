import BrokerProtocol

extension BrokerError {
  /// A user code or an address longer than this is for a program to show, not for a sentence.
  private static let longestWord = 200

  /// Why there is no token: a login waits for its code, or for its user.
  init(pending step: PendingLoginStep) {
    self.init(.challengePending, profile: step.profile)
    switch step {
    case .code(let challenge): self.challenge = challenge
    case .action(let action):
      self.action = action
      nextAction = .wait
      message = Self.sentence(action)
    }
  }

  /// Where the user has to go; a browser's address is as long as it is useless to read.
  private static func sentence(_ action: UserAction) -> String {
    let place = action.verificationURI
    guard action.kind == .deviceCode, place.utf8.count <= longestWord else {
      return "A login is waiting for its user in a browser."
    }
    guard let code = action.userCode, code.utf8.count <= longestWord else {
      return "A login is waiting for its user at \(place)."
    }
    return "A login is waiting for its user at \(place) with the code \(code)."
  }
}
