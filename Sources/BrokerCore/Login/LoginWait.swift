import BrokerProtocol

/// One caller who waits until the user has done what a login asked of them.
struct LoginWait {
  /// The login's handle.
  let login: String
  /// Who gets the answer.
  let reply: Broker.Reply<LoginResult>
  /// Ends the waiting; nil where only the login's own end does.
  let deadline: TimerCancellation?
}

/// One caller who has given a code, or wants another one.
struct CodeCaller {
  /// What the caller waits for.
  enum Wait {
    /// Waits for what comes of the code.
    case guess(Broker.Reply<LoginResult>)
    /// Waits for the new challenge.
    case resend(Broker.Reply<OTPChallenge>)
  }

  /// The login's handle.
  let login: String
  /// What the caller waits for.
  let wait: Wait
}
