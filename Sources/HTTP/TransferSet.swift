import CCurl
import LinuxSystem

/// Everything that one thread has under way: libcurl's multi handle, and who waits for a turn at which server.
///
/// A server that is slow or silent takes its own turns only, never those of another.
@safe
final class TransferSet {
  /// How long the thread and its connections are kept without a request: as long as libcurl by itself would use an idle
  /// connection again (`CURLOPT_MAXAGE_CONN`, where nothing else is set).
  static let linger = Duration.seconds(118)
  /// How much later than libcurl this set itself ends what is late: libcurl has no time-out for a transfer that it lets
  /// wait for a connection.
  private static let grace = Duration.milliseconds(100)
  /// Easy handles that are kept for the next transfers: making one costs more than resetting one.
  private static let spareHandles = 8

  private let settings: HTTPClient.Settings
  private let library: CurlLibrary
  // Made and used on this thread only.
  private let multi: UnsafeMutableRawPointer
  // By the address of their easy handle.
  private var running: [UInt: Transfer] = [:]
  private var lanes: [String: Lane] = [:]
  private var spare: [EasyHandle] = []
  private let connections = KeptConnections()
  // Whether a transfer began that libcurl has not examined yet.
  private var hasBegun = false
  // No exchange that waits is late before this moment; nil when none waits.
  private var nextExpiry: Duration?

  /// Who is under way to one server, and who waits.
  private struct Lane {
    var running = 0
    var waiting: [Exchange] = []
  }

  /// Loads the library and makes an empty set.
  ///
  /// - Throws: `HTTPFailure.libraryMissing` or `.setUpFailed`.
  init(_ settings: HTTPClient.Settings) throws(HTTPFailure) {
    self.settings = settings
    library = try CurlLibrary.load(fileName: settings.library)
    // The table is filled for good, here and below.
    guard let multi = unsafe ccurl_multi_init(library.table) else { throw .setUpFailed }
    unsafe self.multi = multi
    let perServer = settings.limits.requestsPerServer
    for (option, value) in [
      (CURLMOPT_MAXCONNECTS, HTTPLimits.idleConnections), (CURLMOPT_MAX_HOST_CONNECTIONS, perServer),
      (CURLMOPT_PIPELINING, 0),
    ] {
      // The handle is this object's, and these options take a long.
      _ = unsafe ccurl_multi_set_long(library.table, multi, option, value)
    }
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
    var idleSince = BootClock.now
    while true {
      let mail = thread.collect()
      for exchange in mail.exchanges { admit(exchange) }
      if mail.hasCancelled { giveUp { $0.isCancelled } }
      if mail.isClosing { return giveUp { _ in true } }
      expire()
      perform()
      if !running.isEmpty || !mail.exchanges.isEmpty { idleSince = BootClock.now }
      let idleTime = BootClock.now - idleSince
      if running.isEmpty, idleTime >= settings.linger { return }
      wait(for: settings.linger - (running.isEmpty ? idleTime : .zero), thread.bell)
    }
  }

  // Does what can be done now, also for what began in place of what ended.
  private func perform() {
    repeat {
      hasBegun = false
      // All handles are this set's.
      _ = unsafe ccurl_multi_perform(library.table, multi)
      harvest()
    } while hasBegun
  }

  private func wait(for duration: Duration, _ bell: borrowing EventCounter) {
    var duration = duration
    let latest = running.values.lazy.map { $0.exchange.deadline + Self.grace }.min()
    for expiry in [nextExpiry, latest].compactMap(\.self) {
      duration = min(duration, max(expiry - BootClock.now, .zero))
    }
    let milliseconds = Int32((duration.wholeNanoseconds + 999_999) / 1_000_000)
    // The descriptor is open for the length of the call; libcurl shortens the time to what its transfers need.
    _ = unsafe ccurl_multi_poll(library.table, multi, bell.descriptor.number, milliseconds)
  }

  private func admit(_ exchange: Exchange) {
    let server = exchange.server
    let lane = lanes[server] ?? Lane()
    if exchange.isCancelled {
      exchange.finish(.failure(.cancelled(sent: false)))
    } else if lane.running < settings.limits.requestsPerServer {
      begin(exchange, at: server)
    } else if lane.waiting.count < settings.limits.waitingPerServer {
      lanes[server, default: Lane()].waiting.append(exchange)
      nextExpiry = min(nextExpiry ?? exchange.deadline, exchange.deadline)
    } else {
      exchange.finish(.failure(.overloaded))
    }
  }

  private func begin(_ exchange: Exchange, at server: String) {
    let remaining = exchange.deadline - BootClock.now
    guard remaining >= HTTPTimeouts.least else { return exchange.finish(.failure(.timedOut(sent: false))) }
    do throws(HTTPFailure) {
      let easy = if let kept = spare.popLast() { kept } else { try EasyHandle(library: library) }
      let transfer = try Transfer(exchange, on: easy, settings, connections, remaining: remaining)
      // Both handles are this set's; the transfer is kept below, until the handle is taken out again.
      guard unsafe ccurl_multi_add(library.table, multi, easy.pointer) == CURLM_OK else { throw .setUpFailed }
      running[key(of: easy)] = transfer
      hasBegun = true
      lanes[server, default: Lane()].running += 1
    } catch {
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

  private func startAgain(_ transfer: Transfer, after code: CURLcode) -> Bool {
    let remaining = transfer.exchange.deadline - BootClock.now
    guard transfer.startAgain(after: code, remaining: remaining) else { return false }
    // It is in the set, and goes in again.
    _ = unsafe ccurl_multi_remove(library.table, multi, transfer.easy.pointer)
    hasBegun = true
    // As above.
    return unsafe ccurl_multi_add(library.table, multi, transfer.easy.pointer) == CURLM_OK
  }

  private func end(_ transfer: Transfer, _ result: Result<HTTPResponse, HTTPFailure>) {
    let server = transfer.exchange.server
    // It is in the set, since `begin` put it there; `running` holds it until the next line.
    _ = unsafe ccurl_multi_remove(library.table, multi, transfer.easy.pointer)
    running[key(of: transfer.easy)] = nil
    transfer.easy.reset()
    if spare.count < Self.spareHandles { spare.append(transfer.easy) }
    transfer.exchange.finish(result)
    lanes[server]?.running -= 1
    takeTurns(at: server)
  }

  // Ends a transfer that is under way.
  private func stop(_ transfer: Transfer, _ failure: HTTPFailure) {
    transfer.easy.shortenFarewell()
    end(transfer, .failure(failure))
  }

  private func key(of easy: EasyHandle) -> UInt {
    // Only the number counts.
    unsafe UInt(bitPattern: easy.pointer)
  }

  private func takeTurns(at server: String) {
    while let lane = lanes[server], lane.running < settings.limits.requestsPerServer, !lane.waiting.isEmpty {
      let exchange = lanes[server]?.waiting.removeFirst()
      if let exchange { begin(exchange, at: server) }
    }
    if let lane = lanes[server], lane.running == 0, lane.waiting.isEmpty { lanes[server] = nil }
  }

  private func giveUp(where isMeant: (Exchange) -> Bool) {
    refuseWaiting(.cancelled(sent: false), where: isMeant)
    for transfer in running.values where isMeant(transfer.exchange) {
      stop(transfer, .cancelled(sent: transfer.wasSent))
    }
  }

  private func expire() {
    let now = BootClock.now
    if let nextExpiry, nextExpiry <= now { refuseWaiting(.timedOut(sent: false)) { $0.deadline <= now } }
    for transfer in running.values where transfer.exchange.deadline + Self.grace <= now {
      stop(transfer, .timedOut(sent: transfer.wasSent))
    }
  }

  // Answers those who wait and are meant, and looks when the next of the others is late.
  private func refuseWaiting(_ failure: HTTPFailure, where isMeant: (Exchange) -> Bool) {
    nextExpiry = nil
    for (server, lane) in lanes {
      var rest: [Exchange] = []
      // Each is asked once: another thread may cancel it meanwhile, and it would be dropped without an answer.
      for exchange in lane.waiting {
        if isMeant(exchange) { exchange.finish(.failure(failure)) } else { rest.append(exchange) }
      }
      lanes[server]?.waiting = rest
      for exchange in rest { nextExpiry = min(nextExpiry ?? exchange.deadline, exchange.deadline) }
    }
  }
}
