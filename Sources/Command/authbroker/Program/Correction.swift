import BrokerProtocol

/// Values that a provider does not take, and the person who can correct them.
enum Correction {
  /// Tells the person at the terminal which values are refused, so that they are asked for again.
  ///
  /// - Parameters:
  ///   - failure: the refusal, in plain words.
  ///   - fields: what can be asked for again, by the names on the wire.
  ///   - context: the command line.
  ///   - isTyped: whether a person has typed the password, and so may type it again.
  /// - Returns: the names of the values that are refused.
  /// - Throws: the failure where it is another one, or no person can correct it.
  static func refused(
    by failure: CommandFailure, among fields: Set<String>, _ context: Context, isTyped: Bool
  ) throws(CommandFailure) -> Set<String> {
    guard isTyped, !context.wantsJSON, let error = failure.error, error.kind == .validationFailed,
      let refused = error.fields.map({ Set($0) }), !refused.isEmpty, refused.isSubset(of: fields)
    else { throw failure }
    context.tell(failure.message)
    return refused
  }

  /// Sends values, and sends them again while a person corrects what is refused.
  ///
  /// - Parameters:
  ///   - first: the values as they were given first.
  ///   - send: sends them.
  ///   - correct: asks for what is refused again.
  /// - Returns: what came of the values that were taken.
  /// - Throws: what `correct` throws: the failure, where no person can correct it.
  static func repeated<Values, Result>(
    _ first: Values, send: (Values) throws(CommandFailure) -> Result,
    correct: (inout Values, CommandFailure) throws(CommandFailure) -> Void
  ) throws(CommandFailure) -> Result {
    var values = first
    while true {
      do throws(CommandFailure) { return try send(values) } catch { try correct(&values, error) }
    }
  }
}
