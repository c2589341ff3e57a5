import BrokerProtocol
import SecretMemory

/// How often a password is asked for at a terminal, as by login(1) and sudo(8); one that was not typed is tried once.
struct PasswordTries {
  private var left: Int

  /// Tries of a command line.
  init(_ context: Context) { left = PasswordSource.asks(context) ? 3 : 1 }

  /// Does something with the password of an account; asks for it again while it is wrong.
  ///
  /// - Throws: the failure where it is another one, or no try is left.
  static func repeated<Result>(
    _ context: Context, _ body: (Secret) throws(CommandFailure) -> Result
  ) throws(CommandFailure) -> Result {
    var tries = PasswordTries(context)
    while true {
      let password = try PasswordSource.password(context)
      do throws(CommandFailure) { return try body(password) } catch { try tries.note(error) }
    }
  }

  /// Tells the person that the password is wrong, where it is asked for again.
  ///
  /// - Throws: the failure where it is another one, or no try is left.
  mutating func note(_ failure: CommandFailure) throws(CommandFailure) {
    left -= 1
    guard left > 0, failure.error?.kind == .invalidCredentials else { throw failure }
    Output.message(failure.message.sentence + "; try again")
  }
}
