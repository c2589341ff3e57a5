#if !hasFeature(Embedded)
import BrokerProtocol
import LinuxSystem
import Synchronization

/// The way to a broker: the present connection, and another one where that has ended.
final class BrokerLink: Sendable {
  /// A connection, and the task that lends it a thread.
  struct Line: Sendable {
    /// The connection.
    let channel: ClientChannel
    /// Ends when the connection has ended, its thread and a private broker with it.
    let service: Task<Void, Never>
  }

  private struct State {
    var line: Line
    var opening: Task<Result<Line, ClientError>, Never>?
    var isClosed = false
  }

  /// The location of another broker to connect to; nil for none.
  private let location: BrokerLocation?
  private let state: Mutex<State>

  /// A link that begins with a connection.
  init(_ line: Line, to location: BrokerLocation?) {
    self.location = location
    state = Mutex(State(line: line))
  }

  /// Whether another broker may be looked for.
  var mayConnect: Bool { location != nil && !state.withLock { $0.isClosed } }

  /// The present connection where it takes requests, or another one.
  ///
  /// - Parameter startsBroker: false keeps a broker from being started where there is none.
  /// - Returns: a connection; one that has ended where there can be no other.
  /// - Throws: `noBroker`.
  func channel(startsBroker: Bool = true) async throws(ClientError) -> ClientChannel {
    guard var location else { return state.withLock { $0.line.channel } }
    location.startsBroker = location.startsBroker && startsBroker
    let opening: Task<Result<Line, ClientError>, Never>? = state.withLock { [location] state in
      guard !state.isClosed, !state.line.channel.isOpen else { return nil }
      let opening = state.opening ?? Task { await self.open(location) }
      state.opening = opening
      return opening
    }
    guard let opening else { return state.withLock { $0.line.channel } }
    return try await opening.value.get().channel
  }

  private func open(_ location: BrokerLocation) async -> Result<Line, ClientError> {
    let result: Result<Line, ClientError>
    do throws(ClientError) { result = .success(try await Self.connect(to: location)) } catch {
      result = .failure(error)
    }
    state.withLock { state in
      state.opening = nil
      guard case .success(let line) = result else { return }
      state.line = line
      if state.isClosed { line.channel.close() }
    }
    return result
  }

  /// Finds or starts the broker.
  static func connect(to location: BrokerLocation) async throws(ClientError) -> Line {
    let thread = ConnectionThread()
    do throws(ClientError) {
      try thread.begin()
      return line(try await thread.connect(to: location), thread)
    } catch {
      thread.stop()
      throw error
    }
  }

  /// Lends a connection its thread.
  static func line(_ channel: ClientChannel, _ thread: ConnectionThread, _ child: ChildProcess? = nil) -> Line {
    // The bridge to the one thread that waits for the socket; it holds nothing but what it serves, so that a client
    // that is no longer used can end it.
    Line(
      channel: channel,
      service: Task {
        await thread.serve(channel, child)
        thread.stop()
      })
  }

  /// Ends the connection; none is looked for any more.
  ///
  /// - Returns: what ends with it.
  @discardableResult
  func close() -> Task<Void, Never> {
    let line = state.withLock { state in
      state.isClosed = true
      return state.line
    }
    line.channel.close()
    return line.service
  }
}
#endif
