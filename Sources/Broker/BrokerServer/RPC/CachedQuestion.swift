import JSON
import JSONRPC

/// The ordinary form of a `getAccessToken` request, read off the tape without a copy.
struct CachedQuestion {
  /// The bytes of the id.
  let id: Range<Int>
  /// The bytes of the profile's name in the text; empty for the default profile.
  private(set) var profile = 0..<0
  /// How long the token must still live, in milliseconds; nil means the profile's skew.
  private(set) var minValidity: Int64?

  /// Reads a message; nil where it is anything but a request with a plain profile and a whole number of seconds.
  init?(_ envelope: Envelope, _ tape: borrowing JSONTape, _ text: Span<UInt8>) {
    guard envelope.kind == .request, let id = envelope.id, text.matches("getAccessToken", envelope.method) else {
      return nil
    }
    self.id = id
    guard let index = envelope.parameters else { return }
    guard tape[index].kind == .object else { return nil }
    let end = Int(tape[index].next)
    var name = index + 1
    while name < end {
      guard read(tape[name], tape[name + 1], text) else { return nil }
      name = Int(tape[name + 1].next)
    }
  }

  private mutating func read(_ name: JSONTape.Entry, _ value: JSONTape.Entry, _ text: Span<UInt8>) -> Bool {
    guard name.kind == .string else { return false }
    if text.matches("profile", name.range) {
      profile = value.range
      return value.kind == .string && !profile.isEmpty
    }
    if text.matches("minValiditySeconds", name.range), value.kind == .integer, value.range.count <= 7 {
      return readSeconds(value, text)
    }
    return false
  }

  /// Reads a whole number of seconds; seven digits are more than a hundred days, and longer numbers are the general
  /// path's business.
  private mutating func readSeconds(_ value: JSONTape.Entry, _ text: Span<UInt8>) -> Bool {
    var seconds: Int64 = 0
    for position in value.range {
      let digit = text[position]
      guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return false }
      seconds = seconds * 10 + Int64(digit - UInt8(ascii: "0"))
    }
    minValidity = seconds * 1000
    return true
  }
}

/// The form of the last question: programs ask the same again and again, and count their ids.
///
/// A message of the same length that has the same bytes but for other digits of its id is the same question, within the
/// same bounds: a whole number is one token of JSON (RFC 8259, section 6) whatever its digits are. So it is not
/// scanned.
struct LastQuestion {
  /// The question itself.
  private(set) var question: CachedQuestion?
  /// The bytes of the request; it holds no secret: it names a profile and nothing else.
  private var text: [UInt8] = []

  /// Takes a question for a model if its id is a whole number.
  mutating func learn(_ question: CachedQuestion, _ bytes: Span<UInt8>) {
    text.removeAll(keepingCapacity: true)
    self.question = question
    guard Self.isNumber(question.id, in: bytes) else { return }
    text.append(copying: bytes)
  }

  /// How many bytes it has; 0 where there is none.
  var byteCount: Int { text.count }

  /// Whether the first line of some bytes is the same question, if it may have so many bytes.
  @inline(__always)
  func isAsked(byLineIn bytes: Span<UInt8>, atMost limit: Int) -> Bool {
    text.count <= limit && text.count < bytes.count && bytes[text.count] == UInt8(ascii: "\n")
      && isAsked(by: bytes.extracting(first: text.count))
  }

  /// Whether a text asks the same.
  @inline(__always)
  func isAsked(by bytes: Span<UInt8>) -> Bool {
    guard let id = question?.id, !text.isEmpty, bytes.count == text.count else { return false }
    return bytes.hasSameBytes(as: text.span.extracting(first: id.lowerBound), at: 0)
      && bytes.hasSameBytes(as: text.span.extracting(droppingFirst: id.upperBound), at: id.upperBound)
      && Self.isNumber(id, in: bytes)
  }

  @inline(__always)
  private static func isNumber(_ range: Range<Int>, in bytes: Span<UInt8>) -> Bool {
    var place = range.lowerBound
    guard range.count == 1 || bytes[place] != UInt8(ascii: "0") else { return false }
    while place < range.upperBound, bytes[place] >= UInt8(ascii: "0"), bytes[place] <= UInt8(ascii: "9") { place += 1 }
    return place == range.upperBound
  }
}
