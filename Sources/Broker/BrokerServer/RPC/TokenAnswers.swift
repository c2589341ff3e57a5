import BrokerCore
import JSON
import JSONRPC
import LinuxSystem
import SecretMemory

/// Answers the requests of one turn that ask for cached tokens, and holds the answers until they are sent together.
///
/// Most requests are of this kind. They need nothing of their connection but its framing, so that nothing is looked up,
/// counted or allocated for each of them. They are read by the scanner that reads all messages, but for those that
/// differ from the last one in nothing but the number of their id. The first one that is anything else is left to the
/// general path, with all behind it.
///
/// Safe: the memory it owns is reached through checked ranges only.
@safe
struct TokenAnswers: ~Copyable {
  /// The capacity for answers: to 64 requests for the longest usual tokens; more wait for the general path.
  private static let capacity = 1 << 17
  /// The longest request that is read here; a longer one is read by the general path alone.
  private static let longestQuestion = 1024

  private let cache: AnswerCache
  /// The limits of the scanner.
  private var json: JSONLimits
  /// How many bytes an id may have.
  private var idBytes: Int
  /// How many bytes of answers may wait.
  private var outputBytes: Int
  private var tape = JSONTape()
  private var last = LastQuestion()
  private let buffer: UnsafeMutableBufferPointer<UInt8>
  /// How many bytes of answers there are.
  private var count = 0
  /// How many of them the client has taken.
  private var sent = 0
  /// The bytes behind the id in the last answer of this turn; empty before the first one.
  private var lastTail = 0..<0

  /// Answers of a cache to messages within limits; none yet.
  init(from cache: AnswerCache, _ limits: Limits) {
    self.cache = cache
    (json, idBytes, outputBytes) = (limits.json, limits.idBytes, limits[.outputBytes])
    // Owned by this value, freed in deinit; only bytes before `count` are ever read.
    unsafe buffer = .allocate(capacity: Self.capacity)
  }

  deinit {
    // Allocated in init, and freed only here.
    unsafe buffer.deallocate()
  }

  /// The count of messages answered from the beginning of some bytes.
  struct Turn {
    /// How many were answered.
    var messages = 0
    /// How many bytes those have with their framing.
    var bytes = 0
    /// How many bytes of answers wait now.
    var waitingBytes = 0
  }

  /// Answers whole messages from the beginning of `bytes` on, as long as they ask for a cached token.
  ///
  /// - Parameters:
  ///   - bytes: what was read, at the beginning of a message.
  ///   - frames: how messages are cut out of it, and answers framed.
  ///   - permissions: what who asks may have.
  ///   - auditNumber: the number of the client for the audit; nil where there is none.
  ///   - client: the connection.
  ///   - most: how many messages at most.
  ///   - waiting: how many bytes wait for the client already.
  ///   - time: the present time.
  /// - Returns: how far that went.
  mutating func answer(
    _ bytes: Span<UInt8>, _ frames: FrameReader, for permissions: Permissions, as auditNumber: Int? = nil,
    of client: ClientID? = nil, most: Int, behind waiting: Int, at time: TurnClock.Time
  ) -> Turn {
    var turn = Turn()
    lastTail = 0..<0
    let longest = min(Self.longestQuestion, frames.messageByteLimit)
    let framing = frames.framing ?? .lines
    var repeated = 0
    while turn.messages < most, count <= outputBytes - waiting {
      let rest = bytes.extracting(droppingFirst: turn.bytes)
      // Where a line is the same question, its end is where it was, and need not be looked for.
      let isSameLine = framing == .lines && last.isAsked(byLineIn: rest, atMost: longest)
      let sameLine = isSameLine ? (0..<last.byteCount, last.byteCount + 1) : nil
      guard let (range, consumed) = sameLine ?? frames.wholeMessage(in: rest, atMost: longest) else { break }
      let text = rest.extracting(range)
      let isKnown = isSameLine || framing == .headers && last.isAsked(by: text)
      guard isKnown || scan(text), let question = last.question else { break }
      let isRepeated = isKnown && !lastTail.isEmpty
      if !isRepeated { note(&repeated, auditNumber) }
      let result = isRepeated ? nil : answer(question, text, for: permissions, auditNumber, client, at: time)
      guard isRepeated || result != nil else { break }
      guard append(result, text.extracting(question.id), framing) else {
        // It is answered, and counted, by the general path.
        if !isRepeated { repeated -= 1 }
        break
      }
      if isRepeated { repeated += 1 }
      turn.bytes += consumed
      turn.messages += 1
    }
    note(&repeated, auditNumber)
    turn.waitingBytes = count - sent
    return turn
  }

  /// Sends the waiting answers.
  ///
  /// - Returns: whether the client has taken everything; the rest waits.
  mutating func send(to stream: any ClientStream) -> Bool {
    guard case .bytes(let taken) = withWaiting({ stream.write($0) }) else { return false }
    sent += taken
    guard sent == count else { return false }
    clear()
    return true
  }

  /// Counts the answers that were like the one before them.
  @inline(__always)
  private func note(_ repeated: inout Int, _ auditNumber: Int?) {
    guard repeated != 0 else { return }
    cache.noteRepetitions(repeated, as: auditNumber)
    repeated = 0
  }

  /// The cached answer to a question; nil where no token lives for as long as it wants, or the audit is to note it.
  @inline(__always)
  private func answer(
    _ question: CachedQuestion, _ text: Span<UInt8>, for permissions: Permissions, _ auditNumber: Int?,
    _ client: ClientID?, at time: TurnClock.Time
  ) -> Secret? {
    cache.answer(
      profile: text.extracting(question.profile), for: permissions, as: auditNumber, of: client,
      minValidity: question.minValidity, wall: time.wall, uptime: time.uptime)
  }

  /// Reads a message by the scanner; false where it is no question of this kind.
  ///
  /// A carriage return at its end is white space of JSON.
  private mutating func scan(_ text: Span<UInt8>) -> Bool {
    guard (try? tape.scan(text, limits: json)) != nil,
      let question = CachedQuestion(Envelope(in: tape, of: text, idByteLimit: idBytes), tape, text)
    else { return false }
    last.learn(question, text)
    return true
  }

  /// Adopts other limits for the messages to come, those too that are like the last one.
  mutating func setLimits(_ limits: Limits) {
    (json, idBytes, outputBytes) = (limits.json, limits.idBytes, limits[.outputBytes])
    last = LastQuestion()
  }

  /// Appends a response; a result nil is that of the response before.
  ///
  /// - Returns: false where there is no room for it.
  @inline(__always)
  private mutating func append(_ result: Secret?, _ id: Span<UInt8>, _ framing: Framing) -> Bool {
    let (head, label, old) = (ResponseWriter.head, ResponseWriter.resultLabel, lastTail)
    let tailCount = result.map { label.utf8CodeUnitCount + $0.byteCount + 1 } ?? old.count
    let size = head.utf8CodeUnitCount + id.count + tailCount
    guard size <= Self.capacity - count - Framing.largestOverhead else { return false }
    if framing == .headers {
      copy("Content-Length: ")
      copy(decimal: size)
      copy("\r\n\r\n")
    }
    copy(head)
    copy(id)
    lastTail = count..<count + tailCount
    if let result {
      copy(label)
      // There is room for it, as was checked.
      unsafe result.copy(to: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...]))
      count += result.byteCount
      copy("}")
    } else {
      // Both ranges lie inside the memory that this value owns: the one was written, and there is room for the other.
      unsafe (buffer.baseAddress.unsafelyUnwrapped + count).update(
        from: buffer.baseAddress.unsafelyUnwrapped + old.lowerBound, count: old.count)
      count += old.count
    }
    if framing == .lines { copy("\n") }
    return true
  }

  private mutating func copy(decimal number: Int) {
    if number > 9 { copy(decimal: number / 10) }
    // There is room for it, as was checked for the whole response.
    unsafe buffer[count] = UInt8(ascii: "0") + UInt8(number % 10)
    count += 1
  }

  @inline(__always)
  private mutating func copy(_ word: StaticString) {
    // There is room for it, as was checked for the whole response, and a static string lives for ever.
    unsafe (buffer.baseAddress.unsafelyUnwrapped + count).update(from: word.utf8Start, count: word.utf8CodeUnitCount)
    count += word.utf8CodeUnitCount
  }

  @inline(__always)
  private mutating func copy(_ bytes: Span<UInt8>) {
    let place = count
    // As above; the bytes are valid inside the closure.
    unsafe bytes.withUnsafeBufferPointer { bytes in
      guard let start = bytes.baseAddress else { return }
      // As above.
      unsafe (buffer.baseAddress.unsafelyUnwrapped + place).update(from: start, count: bytes.count)
    }
    count += bytes.count
  }

  /// How many bytes of answers wait.
  var waitingCount: Int { count - sent }

  /// Lends the waiting answers.
  func withWaiting<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
    // So many bytes were written, and the span cannot outlive the closure.
    body(unsafe UnsafeBufferPointer(start: buffer.baseAddress, count: count).span.extracting(droppingFirst: sent))
  }

  /// Wipes the waiting answers: they are sent, or wait elsewhere.
  mutating func clear() {
    // The range is inside the memory that this value owns.
    unsafe wipe(UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count))
    (count, sent) = (0, 0)
  }
}
