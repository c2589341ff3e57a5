public import JSON

/// Cuts messages out of a byte stream, whichever way the stream is cut by the reads.
///
/// Pure: the caller keeps the bytes, hands over all that are not consumed yet, and drops what a step consumed. Lines
/// end at the byte 0x0A and nowhere else (CVE-2024-50338: a lone carriage return was a line end to one side only).
public struct FrameReader: Sendable {
  /// The next step for the bytes at hand.
  public enum Step: Sendable, Equatable {
    /// Nothing yet: read more. `consumed` bytes can be dropped all the same.
    case needsMore(consumed: Int)
    /// A message; `consumed` counts from the beginning of the bytes at hand.
    case message(Range<Int>, consumed: Int)
    /// The message that begins here is longer than the limit. It is skipped to its end; told once a message.
    case tooLong(consumed: Int)
    /// The stream is no sequence of messages: answer once, then close.
    case broken(String)
  }

  /// The framing, as soon as it is known.
  public private(set) var framing: Framing?

  /// How many bytes a message may have.
  package let messageByteLimit: Int
  private var headers: HeaderParser
  private var scanned = 0
  private var skipping = Skipping.nothing
  private var isAtStart = true

  private enum Skipping: Equatable {
    case nothing
    case toLineEnd
    case bytes(Int)
  }

  /// How many bytes the first line may have before it must have shown which framing it is.
  static let detectionByteLimit = 256

  /// A reader for a stream that has not begun; `framing` spares the detection.
  public init(messageByteLimit: Int = JSONLimits.standard.byteCount, framing: Framing? = nil) {
    self.messageByteLimit = messageByteLimit
    self.framing = framing
    headers = HeaderParser()
  }

  /// Looks for the next message in the bytes that are not consumed yet.
  ///
  /// `isFinal` says that the stream has ended, so that an unterminated last line counts as a message.
  public mutating func step(_ bytes: Span<UInt8>, isFinal: Bool = false) -> Step {
    var offset = 0
    while true {
      switch progress(bytes.extracting(offset..<bytes.count), isFinal) {
      case .skipped(let count) where offset + count < bytes.count: offset += count
      case .skipped(let count): return .needsMore(consumed: offset + count)
      case .waiting: return .needsMore(consumed: offset)
      case .message(let range, let consumed):
        return .message(range.lowerBound + offset..<range.upperBound + offset, consumed: offset + consumed)
      case .tooLong(let consumed): return .tooLong(consumed: offset + consumed)
      case .broken(let why): return .broken(why)
      }
    }
  }

  /// One move through the bytes at hand; offsets count from where it began.
  private enum Progress {
    case waiting
    case skipped(Int)
    case message(Range<Int>, Int)
    case tooLong(Int)
    case broken(String)
  }

  /// Whether the bytes at hand begin where a message does: whole ones may be taken off by ``wholeMessage(in:atMost:)``.
  ///
  /// At the beginning of the stream this also decides that it is one of lines, as a step would.
  package mutating func isAtMessage(_ bytes: Span<UInt8>) -> Bool {
    if framing == nil, bytes.count > 0, bytes[0] == UInt8(ascii: "{") {
      isAtStart = false
      framing = .lines
    }
    return framing != nil && skipping == .nothing
  }

  /// The message with which bytes begin that ``isAtMessage(_:)`` has looked at.
  ///
  /// Nothing changes: who takes it off says so by ``tookMessages()``, where others of the stream were looked at before.
  ///
  /// - Parameters:
  ///   - bytes: what is at hand.
  ///   - limit: how many bytes the message may have.
  /// - Returns: where it stands and how many bytes it has with its framing; nil where it is not whole, longer, or broken.
  @inline(__always)
  package func wholeMessage(in bytes: Span<UInt8>, atMost limit: Int) -> (message: Range<Int>, consumed: Int)? {
    if framing == .lines {
      return bytes.firstLineFeed(from: 0, before: min(bytes.count, limit + 1)).map { (0..<$0, $0 + 1) }
    }
    guard case .complete(let start, let length) = headers.parse(bytes), length <= min(limit, bytes.count - start)
    else { return nil }
    return (start..<start + length, start + length)
  }

  /// Notes that whole messages were taken off: what stands behind them has not been looked at.
  package mutating func tookMessages() { scanned = 0 }

  private mutating func progress(_ bytes: Span<UInt8>, _ isFinal: Bool) -> Progress {
    switch framing {
    case nil: detect(bytes, isFinal)
    case .lines: line(bytes, isFinal)
    case .headers: headerFrame(bytes)
    }
  }

  /// The byte order mark, which is skipped once at the very beginning.
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  private mutating func detect(_ bytes: Span<UInt8>, _ isFinal: Bool) -> Progress {
    if isAtStart, let byteOrderMark = skipByteOrderMark(bytes) { return byteOrderMark }
    var position = 0
    while position < bytes.count, JSONTape.isBlank(bytes[position]) { position += 1 }
    guard position == 0 else { return .skipped(position) }
    guard bytes.count > 0 else { return .waiting }
    if bytes[0] == UInt8(ascii: "{") || bytes[0] == UInt8(ascii: "[") {
      framing = .lines
      return .skipped(0)
    }
    switch HeaderParser.firstLine(bytes, limit: Self.detectionByteLimit) {
    case .header: framing = .headers
    case .incomplete where !isFinal: return .waiting
    case .incomplete, .other:
      return .broken("The stream must begin with a JSON object, or with a Content-Length header.")
    }
    return .skipped(0)
  }

  private mutating func skipByteOrderMark(_ bytes: Span<UInt8>) -> Progress? {
    let common = min(bytes.count, Self.byteOrderMark.count)
    guard common > 0 else { return .waiting }
    let isMark = (0..<common).allSatisfy { bytes[$0] == Self.byteOrderMark[$0] }
    if isMark, common < Self.byteOrderMark.count { return .waiting }
    isAtStart = false
    return isMark ? .skipped(common) : nil
  }

  private mutating func line(_ bytes: Span<UInt8>, _ isFinal: Bool) -> Progress {
    let feed = bytes.firstLineFeed(from: scanned, before: bytes.count)
    let position = feed ?? bytes.count
    let isComplete = feed != nil
    scanned = 0
    if skipping == .toLineEnd {
      if isComplete { skipping = .nothing }
      return .skipped(isComplete ? position + 1 : position)
    }
    guard isComplete || (isFinal && position > 0) else {
      guard position > messageByteLimit + 1 else {
        scanned = position
        return .waiting
      }
      skipping = .toLineEnd
      return .tooLong(position)
    }
    let consumed = isComplete ? position + 1 : position
    var end = position
    if end > 0, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    if end > messageByteLimit { return .tooLong(consumed) }
    if (0..<end).allSatisfy({ JSONTape.isBlank(bytes[$0]) }) { return .skipped(consumed) }
    return .message(0..<end, consumed)
  }

  private mutating func headerFrame(_ bytes: Span<UInt8>) -> Progress {
    if case .bytes(let count) = skipping {
      let skipped = min(count, bytes.count)
      skipping = skipped == count ? .nothing : .bytes(count - skipped)
      return skipped == 0 ? .waiting : .skipped(skipped)
    }
    switch headers.parse(bytes) {
    case .incomplete: return .waiting
    case .broken(let why): return .broken(why)
    case .complete(let bodyStart, let length):
      if length > messageByteLimit {
        skipping = .bytes(length)
        return .tooLong(bodyStart)
      }
      guard bytes.count - bodyStart >= length else { return .waiting }
      return .message(bodyStart..<bodyStart + length, bodyStart + length)
    }
  }
}
