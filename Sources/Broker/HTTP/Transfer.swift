import CCurl
import SecretMemory

/// One exchange under way on one easy handle: what libcurl calls back while it runs.
///
/// It is used on its client's thread only.
@safe
final class Transfer {
  /// How much later than libcurl the set itself ends what has no connection.
  private static let grace = Duration.milliseconds(100)

  /// Whose request it is.
  let exchange: Exchange
  /// What it runs on.
  let easy: EasyHandle
  // Both are what libcurl's settings point to.
  private let list: StringList
  private let words: UnsafeMutablePointer<CChar>
  private let connections: KeptConnections
  private let clock: TransferClock
  private let timeouts: HTTPTimeouts
  private var collector: ResponseCollector
  private let proxyPlace: String
  // The added authorities that cannot be read.
  private let unreadable: [AddedAuthorities.Place]
  // How much of a mail was sent.
  private var position = 0
  // How often the request was given to a connection, and when first.
  private var sendings = 0
  private var sentAt: Duration?
  // When something of the answer came last: a line of its header, or a piece of its body.
  private var heardAt: Duration?
  // When the connection began to be made.
  private var begunAt: Duration
  /// Whether the set has taken in that the request was sent.
  var isNotedAsSent = false
  // Whether the last connection was refused before it got the request.
  private var isRefused = false

  /// Sets a handle up; nothing runs yet.
  ///
  /// - Parameters:
  ///   - exchange: what to do.
  ///   - easy: a handle without settings. It is used while this object lives, and taken out of its set before that ends.
  ///   - settings: the client's.
  ///   - authorities: the system's and the client's, where the client has some.
  ///   - connections: the set's.
  ///   - clock: the set's.
  ///   - keepsConnection: whether its connection may serve others after it.
  /// - Throws: `HTTPFailure.invalidField`, `.secretMemoryExhausted` or `.setUpFailed`.
  init(
    _ exchange: Exchange, on easy: EasyHandle, _ settings: HTTPClient.Settings, _ authorities: AuthorityBundle?,
    _ connections: KeptConnections, _ clock: TransferClock, keepsConnection: Bool
  ) throws(HTTPFailure) {
    list =
      switch exchange.work {
      case .request(let request, let authorization): try StringList(request, authorization)
      case .mail(let mail): try StringList(recipient: mail.recipient)
      }
    self.exchange = exchange
    self.easy = easy
    self.connections = connections
    self.clock = clock
    begunAt = clock.now
    timeouts = settings.timeouts
    proxyPlace = if case .proxy(let url, _) = settings.proxy { url.place } else { "" }
    unreadable = authorities?.unreadable ?? []
    collector = ResponseCollector(limits: settings.limits)
    // Memory of its own, freed by `deinit`.
    unsafe words = .allocate(capacity: Int(CURL_ERROR_SIZE))
    // There is room for that many characters.
    unsafe words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    easy.applyFixed(settings, authorities)
    easy.apply(exchange.policy, authorities)
    // The words and this object live until the handle is out of its set and reset.
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    // As above.
    unsafe easy.set(CURLOPT_ERRORBUFFER, address: words)
    // As above.
    unsafe easy.setCallbacks(
      body: Self.gotBody, header: Self.gotLine, before: Self.aboutToSend, open: Self.openSocket, context: context)
    switch exchange.work {
    case .request(let request, _): easy.apply(request, list, settings, keepsConnection: keepsConnection)
    case .mail(let mail):
      easy.apply(mail, list, settings, allowed: exchange.allowed)
      // As above.
      unsafe easy.setReader(Self.giveMore, context: context)
    }
    guard easy.isSound else { throw .setUpFailed }
  }

  deinit {
    collector.wipeAll()
    // Made by `init` with that many elements, which are trivial.
    unsafe words.deallocate()
  }

  /// Whether the request was given to a connection: some of it may have arrived from then on.
  ///
  /// libcurl says so when the connection stands, after all handshakes, and sends in the same breath.
  var wasSent: Bool { sendings > 0 }

  /// When it is too late, on the set's clock: for a connection, and once the request is sent for its answer; for a mail as
  /// a whole, since its server is spoken with before anything of it is sent.
  ///
  /// An answer that comes only once is read on while bytes of it come.
  var deadline: Duration {
    guard case .request = exchange.work else { return begunAt + exchange.allowed + Self.grace }
    guard let sentAt else { return begunAt + timeouts.connect + Self.grace }
    let usual = sentAt + exchange.allowed
    guard exchange.isSpending, let heardAt else { return usual }
    return max(usual, min(heardAt + timeouts.stillness, sentAt + timeouts.longestReply))
  }

  /// Whether its caller may end it: one that is sent and spends something goes on.
  var mayBeCancelled: Bool { !exchange.isSpending || !wasSent }

  /// Prepares another go after a stale connection, if that is why it ended: on a new one, which cannot be stale.
  ///
  /// - Returns: whether the handle is to be started again.
  func startAgain(after code: CURLcode) -> Bool {
    guard isRefused, code == CURLE_ABORTED_BY_CALLBACK else { return false }
    isRefused = false
    begunAt = clock.now
    easy.set(CURLOPT_FRESH_CONNECT, 1)
    return true
  }

  /// The outcome, once libcurl has finished with a code.
  func result(_ code: CURLcode) -> Result<HTTPResponse, HTTPFailure> {
    if exchange.isCancelled, !wasSent { return .failure(.cancelled(sent: false)) }
    if collector.isTooLarge { return .failure(.responseTooLarge) }
    switch exchange.work {
    case .request:
      guard code == CURLE_OK else { return late(HTTPFailure(end(code))) }
      // libcurl takes a header that breaks off for a whole one.
      guard collector.isHeaderComplete else { return .failure(.connectionLost(sent: true)) }
    case .mail:
      let reply = easy.number(CURLINFO_RESPONSE_CODE)
      guard code == CURLE_OK else { return .failure(HTTPFailure(mail: end(code), reply: reply)) }
    }
    do throws(HTTPFailure) {
      return .success(try collector.finish(status: easy.number(CURLINFO_RESPONSE_CODE)))
    } catch {
      return .failure(error)
    }
  }

  /// The outcome where the end of the answer did not come: the failure, unless the answer is whole all the same.
  ///
  /// Servers announce a length that is wrong, forget the last chunk, or end TLS without saying so (RFC 8446, section
  /// 6.1).
  func late(_ failure: HTTPFailure) -> Result<HTTPResponse, HTTPFailure> {
    guard wasSent, collector.isHeaderComplete, !collector.isTooLarge,
      let response = try? collector.finish(status: easy.number(CURLINFO_RESPONSE_CODE)), exchange.isWhole(response)
    else { return .failure(failure) }
    return .success(response)
  }

  private func end(_ code: CURLcode) -> TransferEnd {
    var end = TransferEnd(code: code, sent: wasSent)
    end.systemError = Int32(truncatingIfNeeded: easy.number(CURLINFO_OS_ERRNO))
    end.verification = easy.number(CURLINFO_SSL_VERIFYRESULT)
    end.proxyStatus = easy.number(CURLINFO_HTTP_CONNECTCODE)
    end.proxyPlace = proxyPlace
    if exchange.policy.caFile != nil {
      end.authorities = .profile
    } else if let place = unreadable.first {
      end.authorities = place.source
      end.lacksAuthorities = true
    }
    // libcurl ends what it writes there with NUL, and it began as NULs.
    end.words = unsafe String(cString: words)
    return end
  }

  // `context` is the transfer, which outlives all calls, for all of them; nothing else has it meanwhile.
  private static func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    // As above.
    unsafe context.map { unsafe Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }

  private static let gotBody: curl_write_callback = { bytes, size, count, context in
    // libcurl lends `size * count` bytes for the call.
    let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    // As above; a result other than the count ends the transfer.
    guard let transfer = unsafe transfer(context),
      unsafe transfer.collector.collectBody(piece.bindMemory(to: UInt8.self).span)
    else { return 0 }
    transfer.heardAt = transfer.clock.now
    return size * count
  }

  private static let gotLine: curl_write_callback = { bytes, size, count, context in
    // As above.
    let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    // As above.
    guard let transfer = unsafe transfer(context),
      unsafe transfer.collector.collectLine(line.bindMemory(to: UInt8.self).span)
    else { return 0 }
    transfer.heardAt = transfer.clock.now
    return size * count
  }

  private static let giveMore: curl_read_callback = { room, size, count, context in
    // libcurl lends room for `size * count` bytes for the call.
    let room = unsafe UnsafeMutableRawBufferPointer(start: room, count: size * count)
    // As above.
    return unsafe transfer(context)?.fill(room) ?? 0
  }

  // Copies what comes next of a mail, and says how much that is.
  @unsafe
  private func fill(_ room: UnsafeMutableRawBufferPointer) -> Int {
    guard case .mail(let mail) = exchange.work else { return 0 }
    return mail.content.withBytes { bytes in
      let count = min(room.count, bytes.count - position)
      // There is room for as many bytes as are written.
      for index in 0..<count { unsafe room[index] = bytes[position + index] }
      position += count
      return count
    }
  }

  private static let aboutToSend: curl_prereq_callback = { context, _, _, _, port in
    // As above.
    guard let transfer = unsafe transfer(context) else { return Int32(CURL_PREREQFUNC_ABORT) }
    // Who has changed their mind by now gets nothing sent.
    if transfer.exchange.isCancelled, !transfer.wasSent { return Int32(CURL_PREREQFUNC_ABORT) }
    transfer.isRefused = transfer.easy.usesKeptConnection && transfer.connections.isStale(port: port)
    // libcurl by itself repeats any request, a POST too, up to five times when a kept connection ends before a byte of the
    // response came.
    guard !transfer.isRefused, transfer.sendings < transfer.exchange.mostSendings else {
      return Int32(CURL_PREREQFUNC_ABORT)
    }
    transfer.sendings += 1
    transfer.sentAt = transfer.sentAt ?? transfer.clock.now
    return Int32(CURL_PREREQFUNC_OK)
  }

  private static let openSocket: curl_opensocket_callback = { context, _, address in
    // libcurl lends a complete address for the call.
    guard let address = unsafe address else { return -1 }
    // As above.
    let number = unsafe ccurl_open_socket(address)
    // As for the others.
    if number >= 0 { unsafe transfer(context)?.connections.opened(number) }
    return number
  }
}
