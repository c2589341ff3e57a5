#if !hasFeature(Embedded)
public import BrokerProtocol
import LinuxSystem

/// A client of the broker that any number of tasks use at the same time.
///
/// Calls are answered in the order in which the broker finishes them. Cancelling the task of a call cancels the request;
/// without an answer it ends after a minute (``ClientError/timedOut``), later for methods that may take longer.
///
/// The client connects again where the broker has ended. A call that changes nothing, or nothing more the second time, is
/// then made once more, at the next broker, and so is any other that was not sent; the others fail with
/// ``ClientError/connectionLost``, and their effect is not known. A broker that is about to end is waited for, for 30
/// seconds. ``BrokerEvents`` go on behind the last event.
///
/// Tokens and passwords are `Secret`: they print as `<redacted>` until they are revealed.
public final class BrokerClient: Sendable {
  private let link: BrokerLink

  private init(_ line: BrokerLink.Line, to location: BrokerLocation?) { link = BrokerLink(line, to: location) }

  deinit { link.close() }

  /// Connects to the broker of this user, which is started if there is none and the location allows it.
  ///
  /// - Throws: `noBroker`, with a sentence that says why.
  public static func connect(to location: BrokerLocation = BrokerLocation()) async throws -> BrokerClient {
    BrokerClient(try await BrokerLink.connect(to: location), to: location)
  }

  /// Starts a broker that only this program talks to.
  ///
  /// It ends with its connection, and no other one is started then.
  ///
  /// - Throws: `noBroker`, if there is no such program; what the broker itself has to say goes to standard error.
  public static func launch(_ broker: PrivateBroker) async throws -> BrokerClient {
    let thread = ConnectionThread()
    do throws(ClientError) {
      try thread.begin()
      let (channel, child) = try await thread.start(broker)
      return BrokerClient(BrokerLink.line(channel, thread, child), to: nil)
    } catch {
      thread.stop()
      throw error
    }
  }

  /// Talks over a socket that is connected already, and over another one to `location` where that has ended.
  static func over(
    _ socket: consuming FileDescriptor, then location: BrokerLocation? = nil
  ) throws(ClientError) -> BrokerClient {
    let thread = ConnectionThread()
    try thread.begin()
    return BrokerClient(BrokerLink.line(try ClientChannel(socket: socket), thread), to: location)
  }

  /// Ends the connection and waits for that; a private broker has then ended too.
  ///
  /// A client that is no longer used ends its connection by itself, without waiting.
  public func close() async { await link.close().value }

  /// Calls a method.
  ///
  /// - Parameters:
  ///   - method: the method, such as `GetAccessToken.self`.
  ///   - params: what it takes.
  /// - Returns: what the method gives.
  /// - Throws: ``ClientError``: `broker` with the broker's own error, `noBroker`, `connectionLost`, `timedOut`,
  ///   `cancelled`, `unexpectedAnswer`.
  public func call<Method: BrokerMethod>(
    _ method: Method.Type, _ params: Method.Params
  ) async throws -> Method.Result {
    var repetition = Repetition(of: Method.name)
    while true {
      do throws(CallFailure) { return try await once(method, params) } catch {
        guard await repetition.follows(error) else { throw error.error.withOneDeadline }
      }
    }
  }

  /// Calls a method on the present connection, which takes no more calls where the broker is about to end.
  private func once<Method: BrokerMethod>(
    _ method: Method.Type, _ params: Method.Params
  ) async throws(CallFailure) -> Method.Result {
    let channel: ClientChannel
    do throws(ClientError) { channel = try await link.channel() } catch { throw .failed(error) }
    do throws(CallFailure) {
      return try await channel.answer(to: channel.nextID()) { id, handler in
        channel.sendProving(id, Method.name, params) { answer in handler(answer.result(of: method)) }
      }
    } catch {
      if error.isEndOfBroker { channel.retire() }
      throw error
    }
  }

  /// Subscribes to events, which begin behind the snapshot that comes with them.
  ///
  /// - Parameter params: which events of which profiles, and since when; all from now on unless it says otherwise.
  /// - Returns: the snapshot and the events.
  /// - Throws: as ``call(_:_:)``.
  public func events(_ params: Subscribe.Params = Subscribe.Params()) async throws -> BrokerEvents {
    let (queue, stream) = EventQueue.make()
    let feed = EventFeed(params, into: queue, over: link)
    let snapshot = try await begin(feed)
    queue.whenCancelled { [weak feed] in feed?.close() }
    return BrokerEvents(snapshot: snapshot, client: self, stream: stream)
  }

  private func begin(_ feed: EventFeed) async throws -> Subscribe.Result {
    var repetition = Repetition(of: Subscribe.name)
    while true {
      do throws(CallFailure) { return try await feed.subscribe() } catch {
        guard await repetition.follows(error) else { throw error.error.withOneDeadline }
      }
    }
  }
}
#endif
