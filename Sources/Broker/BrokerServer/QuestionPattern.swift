import JSON

/// A request for a cached token, by where its parts stand.
struct TokenQuestion: Equatable {
  /// The bytes of the id.
  var id: Range<Int>
  /// The bytes of the profile's name; empty for the default profile.
  var profile: Range<Int>
  /// How long the token must still live, in milliseconds; nil means the profile's skew.
  var minValidity: Int64?
  /// How many bytes the line has with its end.
  var length: Int
}

/// What the last request for a cached token looked like: programs ask the same again and again, and count their ids.
///
/// A line that begins and ends with the same bytes, and has another whole number for its id, is the same request: a
/// number is one token of JSON (RFC 8259, section 6), and what stands before and behind it ends where it did before.
/// So it is not scanned.
struct QuestionPattern {
  /// As many digits as fit 64 bits whatever they are.
  private static let mostDigits = 18

  /// The line, its end included; empty where there was none.
  private var line: [UInt8] = []
  private var question = TokenQuestion(id: 0..<0, profile: 0..<0, minValidity: nil, length: 0)

  /// Takes a request for a model if its id is a whole number that is not negative.
  ///
  /// The line holds no secret: it is a request for a token, and nothing but the profile's name is said in it.
  mutating func learn(_ question: TokenQuestion, _ bytes: Span<UInt8>) {
    line.removeAll(keepingCapacity: true)
    guard question.id.count <= Self.mostDigits, question.id.allSatisfy({ Self.isDigit(bytes[$0]) }) else { return }
    line.append(copying: bytes.extracting(first: question.length))
    self.question = question
  }

  /// Whether the first line of the bytes is the same request, within the bounds.
  ///
  /// - Parameters:
  ///   - bytes: what was read.
  ///   - longest: how many bytes a line may have.
  ///   - bounds: what else the line is held to.
  /// - Returns: the request; nil where the scanner has to look.
  @inline(__always)
  func match(_ bytes: Span<UInt8>, _ longest: Int, _ bounds: TokenAnswers.Bounds) -> TokenQuestion? {
    let (head, model) = (question.id.lowerBound, line.span)
    guard !line.isEmpty, bytes.hasSameBytes(as: model.extracting(first: head), at: 0) else { return nil }
    var end = head
    while end < bytes.count, Self.isDigit(bytes[end]) { end += 1 }
    let digits = end - head
    guard digits > 0, digits <= min(Self.mostDigits, bounds.idBytes, bounds.json.numberBytes),
      digits == 1 || bytes[head] != UInt8(ascii: "0"),
      bytes.hasSameBytes(as: model.extracting(droppingFirst: question.id.upperBound), at: end)
    else { return nil }
    let shift = digits - question.id.count
    guard question.length + shift - 1 <= min(longest, bounds.json.byteCount) else { return nil }
    var found = question
    found.id = head..<end
    found.length += shift
    if found.profile.lowerBound > head {
      found.profile = found.profile.lowerBound + shift..<found.profile.upperBound + shift
    }
    return found
  }

  @inline(__always)
  private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
