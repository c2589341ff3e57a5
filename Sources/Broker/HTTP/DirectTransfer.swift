import CCurl
import LinuxSystem

/// A streamed request that is carried out on the thread of its caller, which gives it its turns.
///
/// It is given up when this ends before it has.
package struct DirectTransfer: ~Copyable {
  /// A descriptor of the caller's that is waited for as well; an error and a hang-up wake in every case.
  package struct Watched {
    /// Its number.
    let number: Int32
    /// The events that it is waited for, as poll(2) names them.
    let events: Int16

    /// A descriptor, open for as long as it is waited for.
    package init(_ number: Int32, readable: Bool = false, writable: Bool = false) {
      self.number = number
      events = (readable ? TransferSet.readable : 0) | (writable ? TransferSet.writable : 0)
    }
  }

  private let client: HTTPClient
  private let lane: TransferLane
  private let exchange: Exchange
  private let start: Duration

  fileprivate init(_ exchange: Exchange, on kept: KeptLane) throws(HTTPFailure) {
    (client, self.exchange) = (kept.client, exchange)
    lane = try kept.take()
    start = BootClock.now
    if client.mayBegin(exchange) { lane.set.begin(exchange) } else { exchange.finish(.failure(.closed)) }
  }

  deinit {
    if exchange.result == nil {
      exchange.cancel()
      lane.set.endCancelled()
    }
    client.note(exchange, since: start)
  }

  /// The end of the exchange, as ``HTTPStream/run()`` gives it; nil before that.
  package var result: Result<HTTPResponse, HTTPFailure>? { exchange.result }

  /// Asks an empty source again, and offers a full sink its piece again, in the next turn.
  package func resume() { exchange.resume() }

  /// The time on the clock of its lane, which stands still while the process does.
  package var time: Duration { lane.set.clock.now }

  /// Does what can be done at once; source and sink are called in here.
  package func turn() {
    if client.isClosed { exchange.cancel() }
    lane.set.turn(of: exchange, stopsSpending: client.spendsNoMore)
  }

  /// Waits until there is something to do for a turn, or a descriptor is ready; a second at most.
  ///
  /// - Returns: which of the descriptors are.
  package func wait(with others: [Watched]) -> [Bool] {
    let entries = others.map { curl_waitfd(fd: $0.number, events: $0.events, revents: 0) }
    return lane.set.wait(for: TransferClock.longestSleep, with: entries).map { $0.revents != 0 }
  }
}

extension HTTPStream {
  /// Begins the request on the thread of the caller, whose lane has no other under way; in place of ``run()``.
  ///
  /// - Throws: `HTTPFailure.libraryMissing` or `.setUpFailed`; what comes later is the transfer's result.
  package func begin(on lane: KeptLane) throws(HTTPFailure) -> DirectTransfer {
    try DirectTransfer(exchange, on: lane)
  }
}
