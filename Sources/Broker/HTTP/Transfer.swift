import CCurl
import SecretMemory

/// One exchange under way on one easy handle, with libcurl's callbacks.
///
/// It is used on its client's thread only.
@safe
final class Transfer {
  /// How much later than libcurl the set itself ends a transfer without a connection.
  private static let grace = Duration.milliseconds(100)

  /// The exchange that it carries out.
  let exchange: Exchange
  /// libcurl's handle.
  let easy: EasyHandle
  // Both are what libcurl's settings point to.
  private let list: StringList
  private let words: UnsafeMutablePointer<CChar>
  private let connections: KeptConnections
  private let clock: TransferClock
  private let timeouts: HTTPTimeouts
  private var header: HeaderCollector
  // Takes the body where the exchange has no sink of its own.
  private let collector: BodyCollector
  private let sink: any ResponseSink
  // Without its body.
  private var head: HTTPResponse?
  private var isTooLarge = false
  // Whether libcurl waits for the source, and for the sink.
  private var (sourceWaits, sinkWaits) = (false, false)
  private let proxyPlace: String
  // The added authorities that cannot be read.
  private let unreadable: [AddedAuthorities.Place]
  private var outgoing: OutgoingBody
  // How often the request was given to a connection, and when first.
  private var sendings = 0
  private var sentAt: Duration?
  // When something of the answer came last; of a stream, also when something was sent, or went on.
  private var movedAt: Duration?
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
  ///   - list: its header lines, or the recipient of its mail.
  ///   - easy: a handle without settings. It is used while this object lives, and taken out of its set before that ends.
  ///   - settings: the client's.
  ///   - authorities: the system's and the client's, where the client has some.
  ///   - connections: the set's.
  ///   - clock: the set's.
  ///   - keepsConnection: whether its connection may serve others after it.
  /// - Throws: `HTTPFailure.setUpFailed`.
  init(
    _ exchange: Exchange, _ list: StringList, on easy: EasyHandle, _ settings: HTTPClient.Settings,
    _ authorities: AuthorityBundle?,
    _ connections: KeptConnections, _ clock: TransferClock, keepsConnection: Bool
  ) throws(HTTPFailure) {
    self.list = list
    self.exchange = exchange
    self.easy = easy
    self.connections = connections
    self.clock = clock
    begunAt = clock.now
    timeouts = settings.timeouts
    proxyPlace = if case .proxy(let url, _) = settings.proxy { url.place } else { "" }
    unreadable = authorities?.unreadable ?? []
    header = HeaderCollector(limits: settings.limits)
    collector = BodyCollector(limit: settings.limits.responseBytes)
    sink = exchange.stream?.sink ?? collector
    outgoing = OutgoingBody(exchange)
    // Memory of its own, freed by `deinit`.
    unsafe words = .allocate(capacity: Int(CURL_ERROR_SIZE))
    // There is room for that many characters.
    unsafe words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    let form = RequestForm(exchange, authorities, keepsConnection: keepsConnection)
    let isPrepared = easy.prepare(for: form, settings, exchange.policy, authorities)
    // The words and this object live until the handle is out of its set, and points to the words no more.
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    // As above.
    unsafe easy.set(CURLOPT_ERRORBUFFER, address: words)
    // As above.
    unsafe easy.setCallbacks(
      body: Self.gotBody, header: Self.gotLine, before: Self.aboutToSend, open: Self.openSocket, context: context)
    switch exchange.work {
    case .request(let request, _) where isPrepared: easy.apply(request.url, list)
    case .request(let request, _):
      easy.apply(request, list, exchange.stream?.upload, settings, keepsConnection: keepsConnection)
    case .mail(let mail): easy.apply(mail, list, settings, allowed: exchange.allowed)
    }
    // As above.
    unsafe easy.setReader(Self.giveMore, context: context)
    guard easy.isSound else { throw .setUpFailed }
  }

  deinit {
    header.wipeAll()
    // Made by `init` with that many elements, which are trivial.
    unsafe words.deallocate()
  }

  /// Whether the request was given to a connection: some of it may have arrived from then on.
  ///
  /// libcurl says so when the connection stands, after all handshakes, and sends at once.
  var wasSent: Bool { sendings > 0 }

  /// The deadline on the set's clock: for a connection, and once the request is sent for its answer; for a mail as a
  /// whole, since the server answers before anything of it is sent.
  ///
  /// An answer that comes only once is read on while bytes of it come, a stream while it moves or is held up on this
  /// side.
  var deadline: Duration {
    guard case .request = exchange.work else { return begunAt + exchange.allowed + Self.grace }
    guard let sentAt else { return begunAt + timeouts.connect + Self.grace }
    let usual = sentAt + exchange.allowed
    if sinkWaits || sourceWaits && !isTurnedDown { return clock.now + exchange.allowed }
    if exchange.stream != nil { return (movedAt ?? sentAt) + exchange.allowed }
    guard exchange.isSpending, let movedAt else { return usual }
    return max(usual, min(movedAt + timeouts.stillness, sentAt + timeouts.longestReply))
  }

  /// Whether its caller may end it: one that is sent and spends something goes on, but for a stream, whose answer has
  /// nowhere to go then.
  var mayBeCancelled: Bool { !exchange.isSpending || exchange.stream != nil || !wasSent }

  // Whether a server has said no, perhaps before all was sent.
  private var isTurnedDown: Bool { head.map { $0.status >= 300 } ?? false }

  /// Goes on where it was held up.
  func resume() -> CURLcode {
    guard sourceWaits || sinkWaits else { return CURLE_OK }
    (sourceWaits, sinkWaits) = (false, false)
    movedAt = clock.now
    return easy.resume()
  }

  /// Prepares another try on a new connection, if a stale one was the cause of the end.
  ///
  /// - Returns: whether the handle is to be started again.
  func startAgain(after code: CURLcode) -> Bool {
    guard isRefused, code == CURLE_ABORTED_BY_CALLBACK else { return false }
    isRefused = false
    begunAt = clock.now
    easy.form = nil
    easy.set(CURLOPT_FRESH_CONNECT, 1)
    return true
  }

  /// The outcome, once libcurl has finished with a code.
  func result(_ code: CURLcode) -> Result<HTTPResponse, HTTPFailure> {
    if !wasSent, let refusal = exchange.refusal { return .failure(refusal) }
    if isTooLarge { return .failure(.responseTooLarge) }
    switch exchange.work {
    case .request:
      guard code == CURLE_OK else { return late(HTTPFailure(end(code))) }
      // libcurl takes a header that breaks off for a whole one.
      guard header.isComplete else { return .failure(.connectionLost(sent: true)) }
      return finish().map { .success($0) } ?? .failure(.malformedResponse)
    case .mail:
      let reply = easy.number(CURLINFO_RESPONSE_CODE)
      guard code == CURLE_OK else { return .failure(HTTPFailure(mail: end(code), reply: reply)) }
      return .success(HTTPResponse(status: reply, lines: .none, body: .none))
    }
  }

  // The response with what was collected of its body; nil where none has begun.
  private func finish() -> HTTPResponse? {
    guard var response = head else { return nil }
    response.body = collector.finish()
    return response
  }

  /// The outcome where the end of the answer did not come: the failure, unless the answer is complete by its body.
  ///
  /// Servers announce a wrong length, forget the last chunk, or end TLS without a notice (RFC 8446, section 6.1).
  func late(_ failure: HTTPFailure) -> Result<HTTPResponse, HTTPFailure> {
    guard wasSent, !isTooLarge, let response = finish(), exchange.isWhole(response) else {
      return .failure(failure)
    }
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
    // As above.
    return unsafe transfer(context)?.take(piece.bindMemory(to: UInt8.self).span) ?? 0
  }

  private static let gotLine: curl_write_callback = { bytes, size, count, context in
    // As above.
    let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    // As above.
    return unsafe transfer(context)?.take(line: line.bindMemory(to: UInt8.self).span) ?? 0
  }

  // What libcurl is answered: a number other than the bytes' ends the transfer.
  private func take(_ piece: Span<UInt8>) -> Int {
    guard head != nil else { return 0 }
    switch sink.take(piece) {
    case .taken:
      movedAt = clock.now
      sendNoMore()
      return piece.count
    case .later:
      sinkWaits = true
      return Int(CURL_WRITEFUNC_PAUSE)
    case .tooMuch:
      isTooLarge = true
      return 0
    }
  }

  // As above.
  private func take(line: Span<UInt8>) -> Int {
    isTooLarge = !header.collect(line)
    if isTooLarge { return 0 }
    movedAt = clock.now
    if head == nil, let begun = header.head(status: easy.number(CURLINFO_RESPONSE_CODE)) {
      head = begun
      sink.begin(begun)
      sendNoMore()
    }
    return line.count
  }

  // libcurl by itself stops sending to a server that has said no; but it would wait for a source that waits.
  private func sendNoMore() { if isTurnedDown { _ = resume() } }

  private static let giveMore: curl_read_callback = { room, size, count, context in
    // libcurl lends room for `size * count` bytes for the call.
    let room = unsafe UnsafeMutableRawBufferPointer(start: room, count: size * count)
    // As above.
    return unsafe transfer(context)?.fill(room.bindMemory(to: UInt8.self)) ?? 0
  }

  // How many bytes were written, or what else libcurl is to do.
  @unsafe
  private func fill(_ room: UnsafeMutableBufferPointer<UInt8>) -> Int {
    // The room is lent for the call.
    let count = unsafe outgoing.fill(room)
    sourceWaits = count == Int(CURL_READFUNC_PAUSE)
    if exchange.stream != nil, !sourceWaits { movedAt = clock.now }
    return count
  }

  private static let aboutToSend: curl_prereq_callback = { context, _, _, _, port in
    // As above.
    guard let transfer = unsafe transfer(context) else { return Int32(CURL_PREREQFUNC_ABORT) }
    // Who has changed their mind by now gets nothing sent.
    if transfer.exchange.refusal != nil, !transfer.wasSent { return Int32(CURL_PREREQFUNC_ABORT) }
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
