package import LinuxSystem
import SecretMemory
import Synchronization

/// Sends requests over connections that it keeps open, on a thread of its own that starts with the first request.
///
/// It speaks HTTP/1.1, one request at a time on a connection, with libcurl: whether a request may have arrived is then
/// a matter of one connection, and no server can hand requests back half-way, as in HTTP/2 (RFC 9113, section 8.7).
/// It follows no redirect, keeps no cookie, reads no `.netrc` and no variable of the environment. Requests go through a
/// ``PublicTransport`` or an ``AuthenticatedTransport``, which share its connections; connections of different
/// ``TLSPolicy`` are never mixed up.
package final class HTTPClient: Sendable {
  /// The settings of a client, which hold for every request.
  struct Settings: Sendable {
    /// The value of `User-Agent`.
    var userAgent: String
    /// The proxy.
    var proxy: ProxySetting
    /// The certificate authorities trusted beside the system's.
    var authorities = AddedAuthorities()
    /// How long.
    var timeouts: HTTPTimeouts
    /// How much.
    var limits: HTTPLimits
    /// The name of the library to load.
    var library: String
    /// How long the thread and its connections are kept without a request.
    var linger = TransferSet.linger
    /// The clock; a test gives its own.
    var time: @Sendable () -> Duration = { BootClock.now }
    /// Whether requests that may be sent once use kept connections all the same: for a test of the other guards.
    var keepsForOnce = false
  }

  private let settings: Settings
  private let thread: TransferThread
  /// The threads of callers that carry their own transfers out.
  let visitors = ThreadVisitors()
  private let hasStoppedSpending = Atomic(false)
  private let hasClosed = Atomic(false)
  private let hasEnded: @Sendable (HTTPCall) -> Void

  /// Makes a client; nothing is loaded or started yet.
  ///
  /// - Parameters:
  ///   - version: this program's, for `User-Agent: AuthBroker/<version>`.
  ///   - proxy: through whom `https` servers are reached.
  ///   - authorities: who is trusted beside the system's authorities.
  ///   - timeouts: how long requests may take.
  ///   - limits: how much is sent and accepted.
  ///   - hasEnded: is told of each request that has ended, on its caller's executor; must not wait.
  /// - Throws: what eventfd(2) says.
  package convenience init(
    version: String, proxy: ProxySetting, authorities: AddedAuthorities = AddedAuthorities(),
    timeouts: HTTPTimeouts = HTTPTimeouts(), limits: HTTPLimits = HTTPLimits(),
    hasEnded: @escaping @Sendable (HTTPCall) -> Void = { _ in }
  ) throws(Errno) {
    try self.init(
      Settings(
        userAgent: "AuthBroker/\(version)", proxy: proxy, authorities: authorities, timeouts: timeouts, limits: limits,
        library: CurlLibrary.fileName), hasEnded: hasEnded)
  }

  /// Makes a client with a library of the caller's choice.
  ///
  /// - Throws: what eventfd(2) says.
  init(_ settings: Settings, hasEnded: @escaping @Sendable (HTTPCall) -> Void = { _ in }) throws(Errno) {
    precondition(HTTPField.isValue(settings.userAgent), "a version is a short visible text")
    self.settings = settings
    self.hasEnded = hasEnded
    thread = try TransferThread(settings)
  }

  deinit {
    thread.end()
  }

  /// Begins no request any more that spends something; those that are sent go on.
  ///
  /// One that is not sent yet ends with `.closed`, and so does a later one.
  package func stopSpending() {
    hasStoppedSpending.store(true, ordering: .relaxed)
    thread.stopSpending()
  }

  /// Ends every request under way with `.cancelled`, closes all connections and ends the thread; returns when that is
  /// done.
  ///
  /// A caller that wants requests to finish waits for them first. A later request fails with `.closed`. Threads that use
  /// ``TransferLanes`` are waited for.
  package func close() async {
    hasClosed.store(true, ordering: .relaxed)
    await visitors.haveLeft()
    await thread.close()
  }

  /// Sends a request and waits for its response.
  ///
  /// Cancelling the task ends the request with `.cancelled`, at once; one that is sent and spends something goes on until
  /// its answer.
  ///
  /// - Throws: `HTTPFailure`; any.
  func send(
    _ request: HTTPRequest, _ authorization: Authorization, _ policy: TLSPolicy
  ) async throws(HTTPFailure) -> HTTPResponse {
    let allowed =
      switch request.deadline {
      case .interactive: settings.timeouts.interactive
      case .refresh: settings.timeouts.refresh
      }
    return try await perform(Exchange(.request(request, authorization), policy, allowed: allowed))
  }

  /// Hands a mail over and waits until the server has it.
  ///
  /// - Throws: `HTTPFailure`; any.
  func send(_ mail: Mail, _ policy: TLSPolicy) async throws(HTTPFailure) {
    _ = try await perform(Exchange(.mail(mail), policy, allowed: settings.timeouts.interactive))
  }

  /// Runs an exchange and waits for its end.
  ///
  /// - Throws: `HTTPFailure`; any.
  func perform(_ exchange: Exchange) async throws(HTTPFailure) -> HTTPResponse {
    let start = BootClock.now
    let isTooLarge = exchange.byteCount > settings.limits.requestBytes
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        exchange.suspend(continuation)
        if isTooLarge { exchange.finish(.failure(.requestTooLarge)) } else { thread.submit(exchange) }
      }
    } onCancel: {
      exchange.cancel()
      thread.notice()
    }
    let result = exchange.result ?? .failure(.closed)
    note(exchange, since: start)
    return try result.get()
  }

  /// Tells of an exchange that has ended.
  func note(_ exchange: Exchange, since start: Duration) {
    guard case .request(let request, _) = exchange.work else { return }
    hasEnded(HTTPCall(request, exchange.result ?? .failure(.closed), after: BootClock.now - start))
  }

  /// Lets an exchange go on that waits for its own side.
  func resume(_ exchange: Exchange) {
    exchange.resume()
    thread.notice()
  }

  // MARK: On the threads of callers

  /// Whether nothing is begun any more that spends something.
  var spendsNoMore: Bool { hasStoppedSpending.load(ordering: .relaxed) }
  /// Whether nothing is begun any more at all.
  var isClosed: Bool { hasClosed.load(ordering: .relaxed) }
  /// How long a set and its connections are kept without a request.
  var linger: Duration { settings.linger }

  /// Whether an exchange may begin.
  func mayBegin(_ exchange: Exchange) -> Bool { !isClosed && !(spendsNoMore && exchange.isSpending) }

  /// Makes a set of transfers for one thread at a time.
  ///
  /// - Throws: `HTTPFailure.libraryMissing` or `.setUpFailed`.
  func transferSet() throws(HTTPFailure) -> TransferSet {
    try TransferSet(settings, TransferClock(settings.time), keepsHeader: true)
  }
}
