internal import JSON

/// The ids of a message that cannot be read because its structure exceeds a limit: its requests are refused by their ids.
///
/// Nothing is kept of the message, whatever it holds. Where an id cannot be told for certain, because the message ends too
/// early, names it twice or spells a name with escapes, the answer has the id `null`.
public struct RefusedMessage: Sendable {
  /// The text of an id, quotes included; nil for one that cannot be echoed.
  public typealias ID = Range<Int>?

  /// Whether the answers come as one array.
  public let isBatch: Bool
  /// The ids of its requests, in order; a notification has none.
  public private(set) var ids: [ID] = []

  /// Looks for the ids.
  ///
  /// - Parameters:
  ///   - text: the message.
  ///   - idByteLimit: how many bytes an id may have.
  public init(_ text: Span<UInt8>, idByteLimit: Int) {
    var start = 0
    while start < text.count, Self.isBlank(text[start]) { start += 1 }
    isBatch = start < text.count && text[start] == UInt8(ascii: "[")
    var reader = Reader(level: isBatch ? 2 : 1, idByteLimit: idByteLimit)
    reader.read(text)
    ids = reader.ids
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

  private struct Reader {
    /// The depth of the requests: 1, or 2 in a batch.
    let level: Int
    let idByteLimit: Int
    var ids: [ID] = []
    private var depth = 0
    private var isInRequest = false
    /// Whether the next string is a member's name.
    private var isName = false
    private var isID = false
    private var isUncertain = false
    private var valueStart: Int?
    private var found: Range<Int>?

    init(level: Int, idByteLimit: Int) {
      self.level = level
      self.idByteLimit = idByteLimit
    }

    mutating func read(_ text: Span<UInt8>) {
      var position = 0
      while position < text.count {
        switch text[position] {
        case UInt8(ascii: "\""): position = readString(text, position)
        case UInt8(ascii: "{"), UInt8(ascii: "["): open(text[position])
        case UInt8(ascii: "}"), UInt8(ascii: "]"): close(text, position)
        case UInt8(ascii: ":") where depth == level: valueStart = valueStart ?? position + 1
        case UInt8(ascii: ",") where depth == level && isInRequest: endMember(text, position)
        default: break
        }
        position += 1
      }
      // What does not end is no request that could be told from others.
      if isInRequest || depth != 0 { ids.append(nil) }
    }

    /// - Returns: where the string ends, at its quote.
    private mutating func readString(_ text: Span<UInt8>, _ start: Int) -> Int {
      var end = start + 1
      var hasEscape = false
      while end < text.count, text[end] != UInt8(ascii: "\"") {
        if text[end] == UInt8(ascii: "\\") {
          hasEscape = true
          end += 1
        }
        end += 1
      }
      guard depth == level, isInRequest, isName, end < text.count else { return end }
      isName = false
      if hasEscape { isUncertain = true }
      isID = text.extracting(start + 1..<end).matches("id", 0..<end - start - 1)
      return end
    }

    private mutating func open(_ byte: UInt8) {
      depth += 1
      guard depth == level, byte == UInt8(ascii: "{") else { return }
      isInRequest = true
      isName = true
      isUncertain = false
      found = nil
    }

    private mutating func close(_ text: Span<UInt8>, _ position: Int) {
      defer { depth -= 1 }
      guard depth == level, isInRequest else { return }
      endMember(text, position)
      isInRequest = false
      if isUncertain { return ids.append(nil) }
      if let found { ids.append(isEchoed(text.extracting(found)) ? found : nil) }
    }

    private mutating func endMember(_ text: Span<UInt8>, _ end: Int) {
      defer {
        valueStart = nil
        isName = true
        isID = false
      }
      guard isID, let start = valueStart else { return }
      if found != nil { isUncertain = true }
      var range = start..<end
      while let first = range.first, RefusedMessage.isBlank(text[first]) { range = first + 1..<end }
      while let last = range.last, RefusedMessage.isBlank(text[last]) { range = range.lowerBound..<last }
      found = range
    }

    /// Whether the text is an id that a request may have.
    private func isEchoed(_ text: Span<UInt8>) -> Bool {
      guard text.count <= idByteLimit else { return false }
      var tape = JSONTape()
      do throws(JSONError) { try tape.scan(text, limits: .standard) } catch { return false }
      switch tape[0].kind {
      case .string, .escapedString, .integer, .number, .null: return true
      default: return false
      }
    }
  }
}
