import BrokerCore
import JSON
import JSONRPC
import LinuxSystem
import SecretMemory

/// Answers the requests of one turn that ask for cached tokens, and holds the answers until they are sent together.
///
/// Most requests are of this kind. They need nothing of their connection, so that nothing is looked up, counted or
/// allocated for each of them. They are read by the scanner that reads all messages, but for those that differ from the
/// last one in nothing but the number of their id. The first one that is anything else ends what is done here, and is the
/// general path's business with all that follow it.
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
  private var pattern = QuestionPattern()
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

  /// What became of the lines of one read.
  struct Turn {
    /// How many were answered.
    var lines = 0
    /// How many bytes those have with their ends.
    var bytes = 0
    /// How many bytes their answers have.
    var answerBytes = 0
    /// Whether nothing stands behind them, and their answers are sent.
    var isSent = false
  }

  /// Answers whole lines from the beginning of `bytes` on, as long as they ask for a cached token.
  ///
  /// Where nothing stands behind them the answers are sent; what the client does not take waits, and so does everything
  /// otherwise.
  ///
  /// - Parameters:
  ///   - bytes: what was read.
  ///   - most: how many lines at most.
  ///   - messageBytes: how many bytes a line may have.
  ///   - bounds: what else the messages are held to.
  ///   - cache: the answers.
  ///   - time: the present time.
  ///   - stream: the client.
  /// - Returns: how far that went.
  mutating func answer(
    _ bytes: Span<UInt8>, most: Int, messageBytes: Int, _ bounds: Bounds, from cache: AnswerCache, at time: Time,
    to stream: any ClientStream
  ) -> Turn {
    var turn = Turn()
    lastTail = 0..<0
    let longest = min(Self.longestQuestion, messageBytes)
    var repeated = 0
    while turn.lines < most, count <= bounds.outputBytes {
      let rest = bytes.extracting(droppingFirst: turn.bytes)
      if let length = answerAgain(rest, longest, bounds) {
        turn.bytes += length
        repeated += 1
        turn.lines += 1
        continue
      }
      guard let length = answer(rest, longest, bounds, from: cache, at: time) else { break }
      turn.bytes += length
      turn.lines += 1
    }
    if repeated > 0 { cache.noteRepetitions(repeated) }
    turn.answerBytes = count
    if turn.lines > 0, turn.bytes == bytes.count { turn.isSent = send(to: stream) }
    return turn
  }

  /// - Returns: whether the client has taken everything.
  private mutating func send(to stream: any ClientStream) -> Bool {
    guard case .bytes(let taken) = withWaiting({ stream.write($0) }) else { return false }
    sent += taken
    guard sent == count else { return false }
    clear()
    return true
  }

  /// Answers the first line if it is the request that was answered just before, at the same time.
  ///
  /// - Returns: how many bytes it has with its end; nil where it is not.
  @inline(__always)
  private mutating func answerAgain(_ bytes: Span<UInt8>, _ longest: Int, _ bounds: Bounds) -> Int? {
    guard !lastTail.isEmpty, let question = pattern.match(bytes, longest, bounds) else { return nil }
    let head = ResponseWriter.head
    let tail = lastTail
    guard head.utf8CodeUnitCount + question.id.count + tail.count <= Self.capacity - count else { return nil }
    copy(head)
    copy(bytes.extracting(question.id))
    let place = count
    // Both ranges lie inside the memory that this value owns: the one was written, and there is room for the other.
    unsafe (buffer.baseAddress.unsafelyUnwrapped + place).update(
      from: buffer.baseAddress.unsafelyUnwrapped + tail.lowerBound, count: tail.count)
    count += tail.count
    return question.length
  }

  /// Answers the first line.
  ///
  /// - Returns: how many bytes it has with its end; nil where there is no whole one, or it is anything else.
  @inline(__always)
  private mutating func answer(
    _ bytes: Span<UInt8>, _ longest: Int, _ bounds: Bounds, from cache: AnswerCache, at time: Time
  ) -> Int? {
    let question = pattern.match(bytes, longest, bounds) ?? scan(bytes, longest, bounds)
    guard let question,
      let answer = cache.answer(
        profile: bytes.extracting(question.profile), minValidity: question.minValidity, wall: time.wall,
        uptime: time.uptime)
    else { return nil }
    return append(answer, bytes.extracting(question.id)) ? question.length : nil
  }

  /// Reads the first line by the scanner.
  ///
  /// A carriage return at its end is white space of JSON.
  private mutating func scan(_ bytes: Span<UInt8>, _ longest: Int, _ bounds: Bounds) -> TokenQuestion? {
    guard let end = bytes.firstLineFeed(from: 0, before: min(bytes.count, longest + 1)) else { return nil }
    let line = bytes.extracting(first: end)
    guard (try? tape.scan(line, limits: bounds.json)) != nil else { return nil }
    let envelope = Envelope(in: tape, of: line, idByteLimit: bounds.idBytes)
    guard envelope.kind == .request, let id = envelope.id, line.matches("getAccessToken", envelope.method),
      let cached = CachedQuestion(envelope, tape, line)
    else { return nil }
    let question = TokenQuestion(
      id: id, profile: cached.profile, minValidity: cached.minValidity, length: end + 1)
    pattern.learn(question, bytes)
    return question
  }

  /// Forgets what the last question looked like: others may be held to other bounds.
  mutating func forgetPattern() { pattern = QuestionPattern() }

  /// Appends a response as a line; false where there is no room for it.
  private mutating func append(_ result: Secret, _ id: Span<UInt8>) -> Bool {
    let (head, label) = (ResponseWriter.head, ResponseWriter.resultLabel)
    let size = head.utf8CodeUnitCount + id.count + label.utf8CodeUnitCount + result.byteCount + 2
    guard size <= Self.capacity - count else { return false }
    copy(head)
    copy(id)
    let tail = count
    copy(label)
    // There is room for it, as was checked.
    unsafe result.copy(to: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...]))
    count += result.byteCount
    copy("}\n")
    lastTail = tail..<count
    return true
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
