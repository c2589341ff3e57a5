import BrokerProtocol

extension CommandEntry {
  /// A command that calls one method and prints what it gives, with `--json` as it came.
  ///
  /// - Parameters:
  ///   - name: what it is called by.
  ///   - about: how the help explains it.
  ///   - method: the method.
  ///   - params: what it takes, by the command line.
  ///   - explain: tells in plain words what the method has refused.
  ///   - show: prints the result for people.
  init<Method: BrokerMethod>(
    _ name: String, _ about: @autoclosure @escaping @Sendable () -> CommandDescription, calls method: Method.Type,
    with params: @escaping @Sendable (Context) throws(CommandFailure) -> Method.Params,
    explaining explain: @escaping @Sendable (CommandFailure, Context) -> CommandFailure = { failure, _ in failure },
    show: @escaping @Sendable (Method.Result, Context) throws(CommandFailure) -> Void
  ) {
    self.init(name, about()) { context throws(CommandFailure) in
      let params = try params(context)
      let result: Method.Result?
      do throws(CommandFailure) { result = try context.ask(method, params) } catch { throw explain(error, context) }
      if let result { try show(result, context) }
    }
  }

  /// The same for a method that takes nothing.
  init<Method: BrokerMethod>(
    _ name: String, _ about: @autoclosure @escaping @Sendable () -> CommandDescription, calls method: Method.Type,
    show: @escaping @Sendable (Method.Result, Context) throws(CommandFailure) -> Void
  ) where Method.Params == Empty {
    self.init(name, about(), calls: method, with: { _ in Empty() }, show: show)
  }
}
