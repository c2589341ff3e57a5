#if !hasFeature(Embedded)
import BrokerProtocol

/// Why a call has no result, and whether another try may be made.
enum CallFailure: Error {
  /// The broker may have read the request.
  case failed(ClientError)
  /// The request was not sent.
  case unsent(ClientError)

  /// The reason.
  var error: ClientError {
    switch self {
    case .failed(let error), .unsent(let error): error
    }
  }

  /// Whether this broker answers no more requests, so that the next one is to be asked.
  var isEndOfBroker: Bool {
    if case .connectionLost = error { true } else { isRefusalOfEndingBroker }
  }

  /// Whether the broker has begun to end.
  var isRefusalOfEndingBroker: Bool {
    if case .broker(let error) = error { error.kind == .shuttingDown } else { false }
  }

  /// Whether a subscription that has lost its broker tries again: it is not there, not there yet, or has no room now.
  var isPassing: Bool {
    switch error {
    case .connectionLost, .noBroker, .unresponsive, .timedOut: true
    case .broker(let error): error.kind == .shuttingDown || error.kind == .overloaded
    case .cancelled, .unexpectedAnswer: false
    }
  }

  /// Whether a call of a method is made once more, at the next broker.
  func isRepeated(_ method: String) -> Bool {
    if case .unsent(.connectionLost) = self { return true }
    return isEndOfBroker && Self.repeatable.contains(method)
  }

  /// Requests that change nothing, or nothing more the second time.
  private static let repeatable: Set<String> = [
    Initialize.name, Ping.name, Discover.name, GetAccessToken.name, ReportRejected.name, GetIDToken.name,
    CreateProof.name, AwaitLogin.name, ListPendingLogins.name, GetCurrentUser.name, GetSession.name,
    ListSessions.name, ListTargets.name, GetStatus.name, CheckVault.name, Lock.name, Subscribe.name,
  ]
}

extension Answer {
  /// The result of a method, decoded.
  ///
  /// - Parameters:
  ///   - method: the method.
  ///   - accept: called with the result before it is handed on.
  /// - Returns: the result, or why there is none.
  func result<Method: BrokerMethod>(
    of method: Method.Type, _ accept: (Method.Result) -> Void = { _ in }
  ) -> Result<Method.Result, CallFailure> {
    do throws(ClientError) {
      let result = try decoded(as: Method.Result.self)
      accept(result)
      return .success(result)
    } catch {
      if case .unsent = self { return .failure(.unsent(error)) }
      return .failure(.failed(error))
    }
  }
}

extension ClientChannel {
  /// Waits for what `send` hands to its handler; cancels the request when the task is cancelled.
  func answer<Value: Sendable>(
    to id: Int64, _ send: (Int64, @escaping @Sendable (Result<Value, CallFailure>) -> Void) -> Void
  ) async throws(CallFailure) -> Value {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, CallFailure>, Never>) in
        send(id) { result in continuation.resume(returning: result) }
      }
    } onCancel: {
      cancel(id)
    }
    forget(id)
    return try result.get()
  }
}
#endif
