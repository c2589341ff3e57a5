import BrokerCore
import JSON
import JSONRPC
import LinuxSystem
import SecretMemory

/// Answers the requests of one turn that ask for cached tokens, and holds the answers until they are sent together.
///
/// Most requests are of this kind. They need nothing of their connection but its framing, so that nothing is looked up,
/// counted or allocated for each of them. They are read by the scanner that reads all messages, but for those that differ
/// from the last one in nothing but the number of their id. The first one that is anything else ends what is done here,
/// and is the general path's business.
///
/// Safe: the memory it owns is reached through checked ranges only.
@safe
struct TokenAnswers: ~Copyable {
  /// What the messages are held to.
  struct Bounds {
    /// What the scanner keeps to.
    let json: JSONLimits
    /// How many bytes an id may have.
    let idBytes: Int
    /// How many bytes a message of a new connection may have.
    let messageBytes: Int
    /// How many bytes of answers may wait.
    let outputBytes: Int
    /// How many messages a turn may have.
    let turnMessages: Int
    /// How long a round of connections that had much to say may last, in nanoseconds.
    let roundNanoseconds: Int64

    /// The bounds that follow from the limits.
    init(_ limits: Limits) {
      json = limits.json
      idBytes = limits.idBytes
      messageBytes = limits[.messageBytes]
      outputBytes = limits[.outputBytes]
      turnMessages = limits[.turnMessages]
      roundNanoseconds = Int64(limits[.turn]) * 1_000_000
    }
  }

  /// When the messages came, in milliseconds.
  struct Time {
    /// By the wall clock.
    var wall: Int64 = 0
    /// Since the machine started.
    var uptime: Int64 = 0
  }

  /// The answers to 64 requests for the longest usual tokens; more wait for the general path.
  private static let capacity = 1 << 17
  /// A request for a token is shorter; what is longer is read once only, by the general path.
  private static let longestQuestion = 1024

  private var tape = JSONTape()
  private var last = LastQuestion()
  private let buffer: UnsafeMutableBufferPointer<UInt8>
  /// How many bytes of answers there are.
  private var count = 0
  /// How many of them the client has taken.
  private var sent = 0
  /// What stands behind the id in the last answer of this turn; empty before the first one.
  private var lastTail = 0..<0

  /// No answers yet.
  init() {
    // Owned by this value, freed in deinit; only bytes before `count` are ever read.
    unsafe buffer = .allocate(capacity: Self.capacity)
  }

  deinit {
    // Allocated in init, and freed only here.
    unsafe buffer.deallocate()
  }

  /// What became of the messages with which some bytes begin.
  struct Turn {
    /// How many were answered.
    var messages = 0
    /// How many bytes those have with their framing.
    var bytes = 0
  }

  /// Answers whole messages from the beginning of `bytes` on, as long as they ask for a cached token.
  ///
  /// - Parameters:
  ///   - bytes: what was read, at the beginning of a message.
  ///   - frames: how messages are cut out of it, and answers framed.
  ///   - most: how many messages at most.
  ///   - room: how many bytes of answers may wait before another message is answered.
  ///   - bounds: what else the messages are held to.
  ///   - cache: the answers.
  ///   - time: the present time.
  /// - Returns: how far that went.
  mutating func answer(
    _ bytes: Span<UInt8>, _ frames: FrameReader, most: Int, room: Int, _ bounds: Bounds, from cache: AnswerCache,
    at time: Time
  ) -> Turn {
    var turn = Turn()
    lastTail = 0..<0
    let longest = min(Self.longestQuestion, frames.messageByteLimit)
    let framing = frames.framing ?? .lines
    var repeated = 0
    while turn.messages < most, count <= room {
      let rest = bytes.extracting(droppingFirst: turn.bytes)
      guard let (range, consumed) = frames.wholeMessage(in: rest, atMost: longest) else { break }
      let text = rest.extracting(range)
      let isKnown = last.isAsked(by: text)
      guard isKnown || scan(text, bounds), let question = last.question else { break }
      let isRepeated = isKnown && !lastTail.isEmpty
      let result = isRepeated ? nil : question.answer(in: text, from: cache, at: time)
      guard isRepeated || result != nil, append(result, text.extracting(question.id), framing) else { break }
      if isRepeated { repeated += 1 }
      turn.bytes += consumed
      turn.messages += 1
    }
    if repeated > 0 { cache.noteRepetitions(repeated) }
    return turn
  }

  /// Sends what waits.
  ///
  /// - Returns: whether the client has taken everything; what it has not taken waits.
  mutating func send(to stream: any ClientStream) -> Bool {
    guard case .bytes(let taken) = withWaiting({ stream.write($0) }) else { return false }
    sent += taken
    guard sent == count else { return false }
    clear()
    return true
  }

  /// Reads a message by the scanner; false where it is no question of this kind.
  ///
  /// A carriage return at its end is white space of JSON.
  private mutating func scan(_ text: Span<UInt8>, _ bounds: Bounds) -> Bool {
    guard (try? tape.scan(text, limits: bounds.json)) != nil,
      let question = CachedQuestion(Envelope(in: tape, of: text, idByteLimit: bounds.idBytes), tape, text)
    else { return false }
    last.learn(question, text)
    // What was answered before was asked in other words.
    lastTail = 0..<0
    return true
  }

  /// Forgets what the last question looked like: others may be held to other bounds.
  mutating func forgetQuestion() { last = LastQuestion() }

  /// Appends a response; false where there is no room for it.
  ///
  /// - Parameters:
  ///   - result: what is answered; nil for the same as in the response before.
  ///   - id: the bytes of the id.
  ///   - framing: how it is framed.
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

  /// Whether no answer waits.
  var isEmpty: Bool { count == 0 }

  /// How many bytes of answers wait.
  var waitingCount: Int { count - sent }

  /// Lends what waits.
  func withWaiting<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
    // So many bytes were written, and the span cannot outlive the closure.
    body(unsafe UnsafeBufferPointer(start: buffer.baseAddress, count: count).span.extracting(droppingFirst: sent))
  }

  /// Wipes what waits: it is sent, or waits elsewhere.
  mutating func clear() {
    // The range is inside the memory that this value owns.
    unsafe wipe(UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count))
    (count, sent) = (0, 0)
  }
}

extension CachedQuestion {
  /// What the cache has for it; nil where there is no token that is good for so long.
  @inline(__always)
  fileprivate func answer(in text: Span<UInt8>, from cache: AnswerCache, at time: TokenAnswers.Time) -> Secret? {
    cache.answer(
      profile: text.extracting(profile), minValidity: minValidity, wall: time.wall, uptime: time.uptime)
  }
}
