package import BrokerProtocol

/// The visibility of a login's secrets to connections.
///
/// Anyone with the address, or with the code to be typed there, can finish the login as another user, and the profile
/// then has that user's session: so only the connection that began the login and administrative ones see them. The
/// client's context is also shown to other connections of the same program, which may receive events on another one.
/// All others see that a login waits, and may wait for it or cancel it.
extension LoginBeginners {
  /// Adds a connection.
  mutating func add(_ principal: Principal) {
    if let client = principal.client { add(client.number, of: principal.process) }
  }

  /// Whether a connection is one of them, or administrative.
  func include(_ principal: Principal) -> Bool {
    principal.isAdministrative || principal.client.map { connections.contains($0.number) } == true
  }

  /// Whether a connection is of one of their programs, or administrative.
  func includeProgram(of principal: Principal) -> Bool {
    include(principal) || principal.process.map(processes.contains) == true
  }
}

extension UserAction {
  /// The action as a connection may know it.
  func shown(to principal: Principal) -> UserAction {
    guard !beginners.include(principal) else { return self }
    var action = withoutAddress
    if beginners.includeProgram(of: principal) { action.clientContext = clientContext }
    return action
  }

  /// The action without its address and code, for every connection.
  var withoutAddress: UserAction {
    var action = UserAction(
      loginFlowID: loginFlowID, profile: profile, kind: kind, verificationURI: nil, expiresAt: expiresAt)
    action.reminder = reminder
    return action
  }
}

extension OTPChallenge {
  /// The challenge as a connection may know it.
  func shown(to principal: Principal) -> OTPChallenge {
    guard !beginners.includeProgram(of: principal) else { return self }
    var challenge = self
    challenge.clientContext = nil
    return challenge
  }
}

extension PendingLoginStep {
  /// The step as a connection may see it.
  func shown(to principal: Principal) -> PendingLoginStep {
    switch self {
    case .code(let challenge): .code(challenge.shown(to: principal))
    case .action(let action): .action(action.shown(to: principal))
    }
  }

  /// The client's context, if this connection may see it.
  func context(for principal: Principal) -> String? {
    guard !beginners.includeProgram(of: principal) else { return clientContext }
    return nil
  }
}

extension LoginFailedEvent {
  /// The failure of a login that waits.
  init(_ kind: ErrorKind, of step: PendingLoginStep) {
    self.init(kind: kind.rawValue, clientContext: step.clientContext)
    beginners = step.beginners
  }
}

extension EventPayload {
  /// The event as a connection may know it; nil where that is all of it.
  package func shown(to principal: Principal) -> EventPayload? {
    switch self {
    case .loginPending(let action):
      return action.beginners.include(principal) ? nil : .loginPending(action.shown(to: principal))
    case .otpChallenge(let challenge):
      return challenge.clientContext == nil ? nil : .otpChallenge(challenge.shown(to: principal))
    case .otpResent(let challenge):
      return challenge.clientContext == nil ? nil : .otpResent(challenge.shown(to: principal))
    case .login(var login):
      guard login.clientContext != nil, !login.beginners.includeProgram(of: principal) else { return nil }
      login.clientContext = nil
      return .login(login)
    case .loginFailed(var failure):
      guard failure.clientContext != nil, !failure.beginners.includeProgram(of: principal) else { return nil }
      failure.clientContext = nil
      return .loginFailed(failure)
    default: return nil
    }
  }
}

extension BrokerError {
  /// The error as a connection may know it.
  package func shown(to principal: Principal) -> BrokerError {
    var error = self
    error.challenge = challenge?.shown(to: principal)
    guard let action, !action.beginners.include(principal) else { return error }
    error.action = action.shown(to: principal)
    error.message = messageForAll
    return error
  }

  /// The sentence as everyone may read it.
  package var messageForAll: String { action.map { Self.sentence($0.withoutAddress) } ?? message }
}
