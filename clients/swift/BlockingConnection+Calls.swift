// Embedded Swift, in which the program `authbroker` is compiled, has typed errors alone: it calls what these call.
#if !hasFeature(Embedded)
public import BrokerProtocol

extension BlockingConnection {
  /// Connects; starts a broker if there is none and the location allows it.
  ///
  /// - Throws: `noBroker`.
  public init(to location: BrokerLocation = BrokerLocation()) throws {
    self.init(try location.connect())
  }

  /// Calls a method and waits for its answer.
  ///
  /// Where it is for clients that have the state directory, that is proven first.
  ///
  /// - Parameters:
  ///   - method: the method.
  ///   - params: what it takes.
  ///   - timeout: how long to wait; nil: a minute, longer for methods that may take longer.
  /// - Returns: what the method gives.
  /// - Throws: ``ClientError``: `broker` with the broker's own error, `connectionLost`, `timedOut` where that limit or the
  ///   request's own `timeoutSeconds` is over, `unexpectedAnswer`.
  public mutating func call<Method: BrokerMethod>(
    _ method: Method.Type, _ params: Method.Params, timeout: Duration? = nil
  ) throws -> Method.Result {
    do throws(ClientError) { return try request(method, params, timeout: timeout) } catch {
      throw error.withOneDeadline
    }
  }
}
#endif
