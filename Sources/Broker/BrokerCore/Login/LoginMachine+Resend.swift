import BrokerProtocol

/// Resending of codes.
extension LoginMachine {
  /// The state of resending; nil where the login does not wait for a code.
  var resend: CodeResend? {
    switch state {
    case .awaitingCode(let resend), .checkingCode(_, let resend): resend
    case .idle, .resting, .polling, .listening, .accepting, .over: nil
    }
  }

  private mutating func setResend(_ resend: CodeResend) {
    switch state {
    case .awaitingCode: state = .awaitingCode(resend)
    case .checkingCode(let queue, _): state = .checkingCode(queue, resend)
    case .idle, .resting, .polling, .listening, .accepting, .over: break
    }
  }

  /// Another code is sent at the provider's pace, and never two at a time.
  mutating func wantResend(
    _ caller: CallerID, by channel: OTPChallenge.Method?, _ now: Moment
  ) -> [Action] {
    guard var resend else { return [.refuse([caller], error(.flowNotFound))] }
    if case .awaitingCode = state, let actions = endIfOver(now) {
      return [.refuse([caller], error(.flowNotFound))] + actions
    }
    if let channel, !isOffered(channel) {
      let message = "This code cannot be sent that way; the challenge lists its channels."
      return [
        .refuse([caller], BrokerError(.invalidParams, message, profile: login.profile, pointer: "/channel"))
      ]
    }
    let wait = resend.wait(at: now)
    guard resend.caller == nil, wait <= .zero else {
      var error = error(.resendTooSoon)
      error.retryAfter = max(wait, .seconds(1))
      return [.refuse([caller], error)]
    }
    resend.caller = caller
    setResend(resend)
    return [.resend(caller: caller, channel: channel)]
  }

  private func isOffered(_ channel: OTPChallenge.Method) -> Bool {
    guard let challenge = login.step.challenge else { return false }
    return channel == challenge.method || challenge.channels.contains(channel)
  }

  /// Adopts the provider's new challenge after another code was sent; wrong codes stay counted.
  mutating func renew(_ provided: ProviderChallenge, _ now: Moment) -> [Action] {
    guard let caller = resend?.caller else { return [] }
    login.flow = provided.flow
    var challenge = provided.described(
      id: login.id, profile: login.profile, clientContext: login.step.clientContext)
    challenge.beginners = login.step.beginners
    challenge.attemptsRemaining = min(challenge.attemptsRemaining, Self.wrongCodeLimit - login.wrongCodes)
    login.step = .code(challenge)
    setResend(CodeResend(allowedAt: now.deadline(challenge.nextResendAt)))
    return [.keep([.otpResent(challenge)], answering: caller)]
  }

  /// Handles a failed resend: the last code is still valid, unless the provider says otherwise.
  mutating func failResend(_ failure: ProviderFailure, _ now: Moment) -> [Action] {
    guard var resend, let caller = resend.caller else { return [] }
    resend.caller = nil
    if case .refused(.resendTooSoon, _, let wish?, _) = failure, case .code(var challenge) = login.step {
      let retryAfter = min(wish, Backoff.longestCallersPause)
      challenge.nextResendAt = max(challenge.nextResendAt, now.wall + retryAfter)
      login.step = .code(challenge)
      resend.allowedAt = now.deadline(now.wall + retryAfter)
    }
    setResend(resend)
    let refusal = Action.refuse([caller], BrokerError(failure, profile: login.profile))
    switch failure {
    case .refused(.flowNotFound, _, _, _), .refused(.otpExpired, _, _, _):
      return [refusal] + end(.of(failure.kind), isTold: true)
    default: return [refusal]
    }
  }
}

extension ProviderChallenge {
  /// The challenge as clients may know it.
  func described(id: String, profile: ProfileName, clientContext: String? = nil) -> OTPChallenge {
    OTPChallenge(
      otpFlowID: id, profile: profile, method: method, maskedDestination: maskedDestination, otpLength: otpLength,
      expiresAt: expiresAt, nextResendAt: nextResendAt,
      attemptsRemaining: min(attemptsRemaining, LoginMachine.wrongCodeLimit), backupCodesAllowed: backupCodesAllowed,
      channels: channels, clientContext: clientContext)
  }
}
