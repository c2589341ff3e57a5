import BrokerProtocol

/// How often a password is asked for at a terminal, as by login(1) and sudo(8); one that was not typed is tried once.
struct PasswordTries {
  private var left: Int

  /// Tries of a command line.
  init(_ context: Context) { left = PasswordSource.asks(context) ? 3 : 1 }

  /// Tells the person that the password is wrong, where it is asked for again.
  ///
  /// - Throws: the failure where it is another one, or no try is left.
  mutating func note(_ failure: CommandFailure) throws(CommandFailure) {
    left -= 1
    guard left > 0, failure.error?.kind == .invalidCredentials else { throw failure }
    Output.message(failure.message.sentence + "; try again")
  }
}
