import CCurl
import LinuxSystem

/// The transfers of one thread: libcurl's multi handle, and the requests that wait for a turn at a server.
///
/// A server that is slow or silent takes its own turns only, never those of another. Bytes that have come are read
/// before any transfer is judged late.
@safe
final class TransferSet {
  /// How long the thread and its connections are kept without a request: as long as libcurl by itself would use an idle
  /// connection again (`CURLOPT_MAXAGE_CONN`, where nothing else is set).
  static let linger = Duration.seconds(118)
  /// `CURL_WAIT_POLLIN` and `CURL_WAIT_POLLOUT`, as the members of a descriptor have them.
  static let (readable, writable) = (Int16(CURL_WAIT_POLLIN), Int16(CURL_WAIT_POLLOUT))
  /// Easy handles that are kept for the next transfers: making one costs more than resetting one.
  private static let spareHandles = 8

  /// One that waits for its turn.
  private struct Waiting {
    let exchange: Exchange
    /// When it has waited for too long; a request that spends something waits with all its time still to come.
    let deadline: Duration?
  }

  private let settings: HTTPClient.Settings
  private let library: CurlLibrary
  // Used by one thread at a time.
  private let multi: UnsafeMutableRawPointer
  /// The time of its transfers.
  let clock: TransferClock
  // By the address of their easy handle.
  private var running: [UInt: Transfer] = [:]
  private var turns: TurnTable<Waiting>
  // Those that take no turn yet.
  private var pausing: [(exchange: Exchange, until: Duration)] = []
  private var spare: [EasyHandle] = []
  private let connections = KeptConnections()
  /// Makes header lines, and keeps them where that was chosen.
  var header: KeptHeader
  private var bundle: AuthorityBundle?
  // Whether a transfer began that libcurl has not examined yet.
  private var hasBegun = false
  // No exchange that waits is late before this moment; nil when none waits.
  private var nextExpiry: Duration?

  /// Loads the library and makes an empty set; with `keepsHeader` the header lines of a request are kept for the next one.
  ///
  /// - Throws: `HTTPFailure.libraryMissing` or `.setUpFailed`.
  init(_ settings: HTTPClient.Settings, _ clock: TransferClock, keepsHeader: Bool = false) throws(HTTPFailure) {
    self.settings = settings
    header = KeptHeader(isOn: keepsHeader)
    self.clock = clock
    turns = TurnTable(settings.limits)
    library = try CurlLibrary.load(fileName: settings.library)
    // The table is filled for good, here and below.
    guard let multi = unsafe ccurl_multi_init(library.table) else { throw .setUpFailed }
    unsafe self.multi = multi
    set(CURLMOPT_MAXCONNECTS, HTTPLimits.idleConnections)
    set(CURLMOPT_PIPELINING, 0)
  }

  // Read with the first exchange, for as long as libcurl keeps a file, and again once a place that could not be read
  // has changed, since a file that is put there is to be trusted at once. Nil where nothing is added to the system's.
  private var authorities: AuthorityBundle? {
    guard !settings.authorities.places.isEmpty else { return nil }
    if bundle?.isOutdated != false { bundle = AuthorityBundle(settings.authorities) }
    return bundle
  }

  deinit {
    for transfer in running.values {
      // In this set since `begin`.
      _ = unsafe ccurl_multi_remove(library.table, multi, transfer.easy.pointer)
    }
    // Nothing is in it any more; closes the connections.
    _ = unsafe ccurl_multi_cleanup(library.table, multi)
  }

  /// Runs transfers until the client closes, or there has been nothing to do for a while.
  func serve(_ thread: TransferThread) {
    var idleSince = clock.now
    while true {
      // Taken before anything is read: should the process stand still meanwhile, that is found out in the next turn.
      let now = clock.wakes()
      let mail = thread.collect()
      for exchange in mail.exchanges { receive(exchange) }
      if mail.hasNews {
        endCancelled()
        resumeHeldUp()
      }
      if mail.stopsSpending { refuseUnsent() }
      if mail.isClosing { return endAll() }
      endPauses(at: now)
      perform()
      expire(at: now)
      if !running.isEmpty || !pausing.isEmpty || !mail.exchanges.isEmpty { idleSince = clock.now }
      let idleTime = clock.now - idleSince
      if running.isEmpty, idleTime >= settings.linger { return }
      let bell = curl_waitfd(fd: thread.bell.descriptor.number, events: Self.readable, revents: 0)
      wait(for: running.isEmpty ? settings.linger - idleTime : TransferClock.longestSleep, with: [bell])
    }
  }

  private func set(_ option: CURLMoption, _ value: Int) {
    // The handle is this object's, and the options that are set take a long.
    _ = unsafe ccurl_multi_set_long(library.table, multi, option, value)
  }

  /// Does what can be done now, also for what began in place of what ended.
  func perform() {
    repeat {
      hasBegun = false
      // All handles are this set's.
      _ = unsafe ccurl_multi_perform(library.table, multi)
      harvest()
      noteSent()
      takeTurns()
    } while hasBegun
  }

  /// Waits until a transfer has something to do, one of these descriptors is ready, or the time is over.
  ///
  /// - Returns: the descriptors, with what they are ready for: an error and a hang-up wake as well, and are not told.
  @discardableResult
  func wait(for duration: Duration, with others: [curl_waitfd]) -> [curl_waitfd] {
    var (duration, others) = (duration, others)
    let moments = [nextExpiry, pausing.lazy.map(\.until).min(), running.values.lazy.map(\.deadline).min()]
    for expiry in moments.compactMap(\.self) {
      duration = min(duration, max(expiry - clock.now, .zero))
    }
    clock.sleeps(for: duration)
    let milliseconds = Int32((duration.wholeNanoseconds + 999_999) / 1_000_000)
    // The pointer is used inside the closure only, for as many entries as there are.
    unsafe others.withUnsafeMutableBufferPointer { others in
      // The descriptors are open for the length of the call; libcurl shortens the time to what its transfers need.
      _ = unsafe ccurl_multi_poll(library.table, multi, others.baseAddress, UInt32(others.count), milliseconds)
    }
    return others
  }

  private func receive(_ exchange: Exchange) {
    guard exchange.pause > .zero else { return admit(exchange) }
    pausing.append((exchange, clock.now + exchange.pause))
  }

  private func endPauses(at now: Duration) {
    guard !pausing.isEmpty else { return }
    let ready = pausing.filter { $0.until <= now }
    pausing.removeAll { $0.until <= now }
    for (exchange, _) in ready { admit(exchange) }
  }

  /// Gives an exchange its turn, lets it wait for one, or refuses it.
  func admit(_ exchange: Exchange) {
    guard !exchange.isCancelled else { return exchange.finish(.failure(.cancelled(sent: false))) }
    let server = exchange.server
    let deadline = exchange.isSpending ? nil : clock.now + exchange.allowed
    switch turns.admit(Waiting(exchange: exchange, deadline: deadline), exchange.turn, at: server) {
    case .begins: begin(exchange, at: server)
    case .waits: if let deadline { nextExpiry = min(nextExpiry ?? deadline, deadline) }
    case .refused: exchange.finish(.failure(.overloaded))
    }
  }

  // It has its turn, which ends where it cannot begin.
  private func begin(_ exchange: Exchange, at server: String) {
    do throws(HTTPFailure) {
      let easy = if let kept = spare.popLast() { kept } else { try EasyHandle(library: library) }
      let transfer = try Transfer(
        exchange, try header.list(of: exchange), on: easy, settings, authorities, connections, clock,
        keepsConnection: !turns.isBusy(server))
      // libcurl never holds one back; idle connections to one server stay few.
      set(CURLMOPT_MAX_HOST_CONNECTIONS, max(settings.limits.requestsPerServer, running.count + 1))
      // Both handles are this set's; the transfer is kept below, until the handle is taken out again.
      guard unsafe ccurl_multi_add(library.table, multi, easy.pointer) == CURLM_OK else { throw .setUpFailed }
      running[key(of: easy)] = transfer
      hasBegun = true
    } catch {
      turns.ended(exchange.turn, at: server, wasSent: false)
      exchange.finish(.failure(error))
    }
  }

  // Takes the transfers out that libcurl has finished.
  private func harvest() {
    var code = CURLE_OK
    // The handle that is returned is one of this set's; only its number counts here.
    while let pointer = unsafe ccurl_multi_next_done(library.table, multi, &code) {
      guard let transfer = running[UInt(bitPattern: pointer)] else { continue }
      if !startAgain(transfer, after: code) { end(transfer, transfer.result(code)) }
    }
  }

  // Lets others connect in place of those that have.
  private func noteSent() {
    for transfer in running.values where transfer.wasSent && !transfer.isNotedAsSent {
      transfer.isNotedAsSent = true
      turns.sent(transfer.exchange.turn, at: transfer.exchange.server)
    }
  }

  private func startAgain(_ transfer: Transfer, after code: CURLcode) -> Bool {
    guard transfer.startAgain(after: code) else { return false }
    // It is in the set, and goes in again.
    _ = unsafe ccurl_multi_remove(library.table, multi, transfer.easy.pointer)
    hasBegun = true
    // As above.
    return unsafe ccurl_multi_add(library.table, multi, transfer.easy.pointer) == CURLM_OK
  }

  private func end(_ transfer: Transfer, _ result: Result<HTTPResponse, HTTPFailure>) {
    // It is in the set, since `begin` put it there; `running` holds it until the next line.
    _ = unsafe ccurl_multi_remove(library.table, multi, transfer.easy.pointer)
    running[key(of: transfer.easy)] = nil
    transfer.easy.endTransfer()
    if spare.count < Self.spareHandles { spare.append(transfer.easy) }
    turns.ended(transfer.exchange.turn, at: transfer.exchange.server, wasSent: transfer.isNotedAsSent)
    transfer.exchange.finish(result)
  }

  // Ends a transfer that is under way.
  private func stop(_ transfer: Transfer, _ result: Result<HTTPResponse, HTTPFailure>) {
    transfer.easy.shortenFarewell()
    end(transfer, result)
  }

  private func key(of easy: EasyHandle) -> UInt {
    // Only the number counts.
    unsafe UInt(bitPattern: easy.pointer)
  }

  private func takeTurns() {
    while let (waiting, server) = turns.next() { begin(waiting.exchange, at: server) }
  }

  /// Ends exchanges that their callers have cancelled; what was sent and spends something goes on, and its own time alone
  /// ends it.
  func endCancelled() {
    refuseWaiting(.cancelled(sent: false)) { $0.exchange.isCancelled }
    for transfer in running.values where transfer.exchange.isCancelled && transfer.mayBeCancelled {
      stop(transfer, .failure(.cancelled(sent: transfer.wasSent)))
    }
  }

  /// Lets exchanges go on whose own side may go on.
  func resumeHeldUp() {
    for transfer in running.values where transfer.exchange.takeResumption() {
      let code = transfer.resume()
      // libcurl tells this of what it had kept, and would go on without it.
      if code != CURLE_OK { end(transfer, transfer.result(code)) }
    }
  }

  private func endAll() {
    refuseWaiting(.cancelled(sent: false)) { _ in true }
    for transfer in running.values { stop(transfer, .failure(.cancelled(sent: transfer.wasSent))) }
  }

  /// Ends exchanges that spend something and are not sent.
  func refuseUnsent() {
    refuseWaiting(.closed) { $0.exchange.isSpending }
    for transfer in running.values where transfer.exchange.isSpending && !transfer.wasSent {
      stop(transfer, .failure(.closed))
    }
  }

  /// Ends exchanges whose time is over.
  func expire(at now: Duration) {
    if let nextExpiry, nextExpiry <= now {
      refuseWaiting(.timedOut(sent: false)) { $0.deadline.map { $0 <= now } ?? false }
    }
    for transfer in running.values where transfer.deadline <= now {
      stop(transfer, transfer.late(.timedOut(sent: transfer.wasSent)))
    }
    takeTurns()
  }

  // Answers those who wait and are meant, and looks when the next of the others is late.
  private func refuseWaiting(_ failure: HTTPFailure, where isMeant: (Waiting) -> Bool) {
    // Each is asked once, as by the table.
    var rest: [(exchange: Exchange, until: Duration)] = []
    for paused in pausing {
      let isMeant = isMeant(Waiting(exchange: paused.exchange, deadline: nil))
      if isMeant { paused.exchange.finish(.failure(failure)) } else { rest.append(paused) }
    }
    pausing = rest
    for work in TurnWork.allCases {
      for waiting in turns.remove(work, where: isMeant) { waiting.exchange.finish(.failure(failure)) }
    }
    nextExpiry = turns.waitingOrdinary.compactMap(\.deadline).min()
  }
}

extension Exchange {
  /// The kind of its turns.
  fileprivate var turn: TurnWork { isSpending ? .spending : .ordinary }
}
