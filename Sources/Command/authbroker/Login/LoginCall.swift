import AuthBrokerClient
import BrokerProtocol
import LinuxSystem

/// One question to the broker whose answer may be a session: Ctrl-C and the end of `--timeout` cancel the login.
///
/// The broker is told and asked to its end, so that no command says otherwise than what came of it.
struct LoginCall {
  /// The way to cancel a login.
  enum Undoing {
    /// The request is not wanted any more.
    case request
    /// A login that waits for the code which was just sent is cancelled.
    case code(flow: String)
    /// As the first one, of a request that makes an account too.
    case registration
  }

  /// How long the broker may take to say what became of a login that was cancelled: it needs no other program for that, but
  /// to save a session that has just come.
  private static let patience = Duration.seconds(5)
  /// How long an answer may take: more than any provider is given.
  private static let usual = Duration.seconds(60)

  /// Why a login is cancelled.
  private enum Reason {
    case signal(Signal)
    case time
  }

  /// The outcome of the call.
  private enum Outcome<Answer: LoginAnswer> {
    case cancelled
    case failed(BrokerError)
    case completed(Answer)
    case unknown
  }

  private let context: Context
  private let undoing: Undoing

  /// A question to be asked on behalf of a command.
  init(_ context: Context, undoing: Undoing) {
    self.context = context
    self.undoing = undoing
  }

  /// Asks, and waits for the answer.
  ///
  /// - Returns: what came of it, also where that was too late to be cancelled when the time was over.
  /// - Throws: a failure with the exit code for it; one that ends the program by the signal that has come.
  func ask<Method: BrokerMethod>(
    _ method: Method.Type, _ params: Method.Params, on connection: inout BlockingConnection
  ) throws(CommandFailure) -> Method.Result where Method.Result: LoginAnswer {
    let limit = try context.arguments.seconds("--timeout") ?? Self.usual
    let held = try HeldSignals()
    var id: Int64
    do throws(ClientError) { id = try connection.begin(method, params) } catch { throw CommandFailure(error) }
    let reason: Reason
    do throws(ClientError) {
      return try answer(to: &id, method, params, on: &connection, within: limit, unless: held.pending.descriptor)
    } catch {
      switch error {
      case .timedOut: reason = .time
      case .cancelled: reason = held.next().map { .signal($0) } ?? .time
      default: throw CommandFailure(error)
      }
    }
    let outcome = cancel(id, of: method, on: &connection)
    return try end(reason, outcome)
  }

  /// Waits for the answer; where a proof of access to the state directory lets the login pass, gives it and asks again.
  private func answer<Method: BrokerMethod>(
    to id: inout Int64, _ method: Method.Type, _ params: Method.Params, on connection: inout BlockingConnection,
    within limit: Duration, unless interruption: borrowing FileDescriptor
  ) throws(ClientError) -> Method.Result {
    do throws(ClientError) {
      return try connection.answer(to: id, as: method, timeout: limit, unless: interruption)
    } catch {
      guard try connection.prove(error, Method.name, params, limit) else { throw error }
    }
    id = try connection.begin(method, params)
    return try connection.answer(to: id, as: method, timeout: limit, unless: interruption)
  }

  // MARK: Cancelling

  private func cancel<Method: BrokerMethod>(
    _ id: Int64, of method: Method.Type, on connection: inout BlockingConnection
  ) -> Outcome<Method.Result> where Method.Result: LoginAnswer {
    // Nothing interrupts this a second time: it ends soon.
    guard let nothing = try? EventCounter() else { return .unknown }
    do throws(ClientError) {
      switch undoing {
      case .request, .registration: try connection.cancel(id)
      case .code(let flow): _ = try connection.begin(CancelLogin.self, .init(otpFlowID: flow))
      }
      let result = try connection.answer(to: id, as: method, timeout: Self.patience, unless: nothing.descriptor)
      return outcome(result, on: &connection)
    } catch {
      guard case .broker(let error) = error else { return .unknown }
      return error.kind == .cancelled ? .cancelled : .failed(error)
    }
  }

  /// A login that has come so far that it waits for its user is cancelled; one that is done stays.
  private func outcome<Answer: LoginAnswer>(
    _ result: Answer, on connection: inout BlockingConnection
  ) -> Outcome<Answer> {
    let params: CancelLogin.Params
    switch result.login.progress {
    case .otpRequired(let challenge): params = .init(otpFlowID: challenge.otpFlowID)
    case .userActionRequired(let action): params = .init(loginFlowID: action.loginFlowID)
    case .authenticated, .emailVerificationRequired: return .completed(result)
    }
    let answer = try? connection.request(CancelLogin.self, params, timeout: Self.patience)
    return answer == nil ? .unknown : .cancelled
  }

  // MARK: The end

  private func end<Answer>(_ reason: Reason, _ outcome: Outcome<Answer>) throws(CommandFailure) -> Answer {
    switch (reason, outcome) {
    case (.time, .completed(let result)): return result
    case (.time, .failed(let error)): throw CommandFailure(.broker(error))
    case (.time, _):
      var failure = context.failure(.timedOut)
      failure.message = message(outcome).behind("the login was not done in time; ")
      throw failure
    case (.signal(let signal), _):
      var failure = CommandFailure(.failure, message(outcome))
      if case .cancelled = outcome { failure.error = BrokerError(.cancelled) }
      if case .completed(let result) = outcome, context.wantsJSON { context.printJSON(result) }
      failure.signal = signal
      throw failure
    }
  }

  private func message<Answer>(_ outcome: Outcome<Answer>) -> Message {
    switch (outcome, undoing) {
    case (.cancelled, .registration): Message("the login was cancelled; the account may have been created all the same")
    case (.cancelled, _): Message("the login was cancelled")
    case (.failed(let error), _): CommandFailure(.broker(error)).message
    case (.completed(let answer), _): Self.lateMessage(answer.login.progress)
    case (.unknown, _):
      Message("the broker has not said whether it was cancelled", next: NextCommand("see", "status"))
    }
  }

  /// The message about a login that was done before it could be cancelled.
  private static func lateMessage(_ progress: LoginProgress) -> Message {
    guard case .authenticated(let session) = progress else {
      return Message("it was too late to cancel: the account was created")
    }
    return Message(
      "it was too late to cancel: " + LoginDialogue.welcome(session),
      next: NextCommand("log out with", "logout").on(session.profile))
  }
}
