#if !hasFeature(Embedded)
public import BrokerProtocol
import LinuxSystem

/// A connection to the broker that any number of tasks use at the same time.
///
/// Calls are answered in the order in which the broker finishes them. Cancelling the task of a call cancels the request.
/// When the connection ends, every call that waits fails with ``ClientError/connectionLost`` and every ``BrokerEvents``
/// ends; a client does not reconnect by itself, because only its program knows what it wants to do then. Make a new
/// one.
///
/// Tokens and passwords are `Secret`: they print as `<redacted>` until they are revealed.
public final class BrokerClient: Sendable {
  private let channel: ClientChannel
  /// Ends when the connection has ended, its thread and a private broker with it.
  private let service: Task<Void, Never>

  private init(_ channel: ClientChannel, _ thread: ConnectionThread, _ child: ChildProcess? = nil) {
    self.channel = channel
    // The bridge to the one thread that waits for the socket; it holds nothing but what it serves, so that a client
    // that is no longer used can end it.
    service = Task {
      await thread.serve(channel, child)
      thread.stop()
    }
  }

  deinit { channel.close() }

  /// Connects to the broker of this user, which is started if there is none and the location allows it.
  ///
  /// - Throws: `noBroker`, with a sentence that says why.
  public static func connect(to location: BrokerLocation = BrokerLocation()) async throws -> BrokerClient {
    let thread = ConnectionThread()
    do throws(ClientError) {
      try thread.begin()
      return BrokerClient(try await thread.connect(to: location), thread)
    } catch {
      thread.stop()
      throw error
    }
  }

  /// Starts a broker that only this program talks to.
  ///
  /// - Throws: `noBroker`, if there is no such program; what the broker itself has to say goes to standard error.
  public static func launch(_ broker: PrivateBroker) async throws -> BrokerClient {
    let thread = ConnectionThread()
    do throws(ClientError) {
      try thread.begin()
      let (channel, child) = try await thread.start(broker)
      return BrokerClient(channel, thread, child)
    } catch {
      thread.stop()
      throw error
    }
  }

  /// Talks over a socket that is connected already.
  static func over(_ socket: consuming FileDescriptor) throws(ClientError) -> BrokerClient {
    let thread = ConnectionThread()
    try thread.begin()
    return BrokerClient(try ClientChannel(socket: socket), thread)
  }

  /// Ends the connection and waits for that; a private broker has then ended too.
  ///
  /// A client that is no longer used ends its connection by itself, without waiting.
  public func close() async {
    channel.close()
    await service.value
  }

  /// Calls a method.
  ///
  /// - Parameters:
  ///   - method: the method, such as `GetAccessToken.self`.
  ///   - params: what it takes.
  /// - Returns: what the method gives.
  /// - Throws: `broker` with the broker's own error, `connectionLost`, `cancelled`, `unexpectedAnswer`.
  public func call<Method: BrokerMethod>(
    _ method: Method.Type, _ params: Method.Params
  ) async throws -> Method.Result {
    let id = channel.nextID()
    return try await answer(to: id) { handler in
      self.channel.sendProving(id, Method.name, params) { answer in
        handler(Result { () throws(ClientError) in try answer.decoded(as: Method.Result.self) })
      }
    }
  }

  /// Subscribes to events, which begin behind the snapshot that comes with them.
  ///
  /// - Parameter params: which events of which profiles, and since when; all from now on unless it says otherwise.
  /// - Returns: the snapshot and the events.
  /// - Throws: as ``call(_:_:)``.
  public func events(_ params: Subscribe.Params = Subscribe.Params()) async throws -> BrokerEvents {
    let id = channel.nextID()
    let (queue, stream) = EventQueue.make()
    let channel = channel
    let snapshot: Subscribe.Result = try await answer(to: id) { handler in
      channel.send(id, Subscribe.name, params) { answer in
        let state = Result { () throws(ClientError) in try answer.decoded(as: Subscribe.Result.self) }
        // Here, on the reading thread: events may stand right behind the answer.
        if case .success(let state) = state { channel.open(state.subscriptionID, queue) }
        handler(state)
      }
    }
    queue.whenCancelled { [weak channel] in channel?.close(snapshot.subscriptionID) }
    return BrokerEvents(snapshot: snapshot, client: self, stream: stream)
  }

  /// Waits for what `send` hands to its handler; cancels the request when the task is cancelled.
  private func answer<Value: Sendable>(
    to id: Int64, _ send: (@escaping @Sendable (Result<Value, ClientError>) -> Void) -> Void
  ) async throws(ClientError) -> Value {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, ClientError>, Never>) in
        send { result in continuation.resume(returning: result) }
      }
    } onCancel: {
      channel.cancel(id)
    }
    channel.forget(id)
    return try result.get()
  }
}
#endif
