import JSON

/// Finds the members of a body that is nearly a JSON object; it notes positions, and copies nothing but names.
struct LooseScanner {
  /// A value.
  struct Piece {
    /// The form of a value.
    enum Form {
      /// A string, number or word that keeps the grammar.
      case sound
      /// A string with a byte or an escape that the grammar does not allow.
      case looseString
      /// Anything else.
      case unsound
      case array([Piece])
      case object([Member])
    }

    /// The form.
    var form: Form
    /// The position; a string includes its quotes.
    var range: Range<Int>

    /// Whether it is a value without others in it that keeps the grammar.
    var isSound: Bool { if case .sound = form { true } else { false } }

    /// Whether there may be others in it.
    var isContainer: Bool {
      switch form {
      case .array, .object: true
      case .sound, .looseString, .unsound: false
      }
    }
  }

  /// A member of an object.
  struct Member {
    /// Its name.
    var name: String
    /// The position of the name, with its quotes.
    var nameRange: Range<Int>
    /// Its value.
    var value: Piece
  }

  /// The longest prefix that may precede an object: a byte order mark, blanks, and a guard against scripts (`)]}',`).
  private static let longestPrefix = 32
  private static let deepest = 64
  private static let limits = JSONLimits(depth: 1, byteCount: 1 << 20, toleratesLargeNumbers: true)

  private var position = 0
  private var isCutOff = false
  private var tape = JSONTape()

  /// The object; nil where there is none, or another one follows, or it is cut off: the missing part may contradict it,
  /// or be the next refresh token.
  mutating func scan(_ text: Span<UInt8>) -> Piece? {
    while position < text.count, text[position] != UInt8(ascii: "{") {
      guard position < Self.longestPrefix, text[position] != UInt8(ascii: "<"), text[position] != UInt8(ascii: "\""),
        text[position] != UInt8(ascii: "[")
      else { return nil }
      position += 1
    }
    guard position < text.count, let root = value(text, 0) else { return nil }
    if isCutOff { return nil }
    while position < text.count {
      if text[position] == UInt8(ascii: "{") || text[position] == UInt8(ascii: "[") { return nil }
      position += 1
    }
    return root
  }

  /// The value at the position; nil where it is nested too deep.
  private mutating func value(_ text: Span<UInt8>, _ depth: Int) -> Piece? {
    guard depth < Self.deepest else { return nil }
    let start = position
    guard start < text.count else {
      isCutOff = true
      return Piece(form: .unsound, range: start..<start)
    }
    switch text[start] {
    case UInt8(ascii: "{"): return object(text, depth)
    case UInt8(ascii: "["): return array(text, depth)
    case UInt8(ascii: "\""):
      guard skipString(text) else { return Piece(form: .unsound, range: start..<position) }
      let range = start..<position
      return Piece(form: isJSON(text, range) ? .sound : .looseString, range: range)
    default:
      while position < text.count, !Self.endsWord(text[position]) { position += 1 }
      if position == text.count { isCutOff = true }
      let range = start..<position
      return Piece(form: !isCutOff && isJSON(text, range) ? .sound : .unsound, range: range)
    }
  }

  private mutating func object(_ text: Span<UInt8>, _ depth: Int) -> Piece? {
    let start = position
    var members: [Member] = []
    position += 1
    while true {
      while position < text.count, text[position] != UInt8(ascii: "\""), text[position] != UInt8(ascii: "}") {
        position += 1
      }
      guard position < text.count else { break }
      if text[position] == UInt8(ascii: "}") {
        position += 1
        return Piece(form: .object(members), range: start..<position)
      }
      let begin = position
      guard skipString(text) else { break }
      let nameRange = begin..<position
      skipStray(text)
      guard position < text.count, text[position] == UInt8(ascii: ":") else { continue }
      position += 1
      skipStray(text)
      guard let name = name(text, nameRange) else {
        guard value(text, depth + 1) != nil else { return nil }
        continue
      }
      guard var found = value(text, depth + 1) else { return nil }
      if !isFollowedWell(text) { found.form = .unsound }
      members.append(Member(name: name, nameRange: nameRange, value: found))
    }
    isCutOff = true
    return Piece(form: .object(members), range: start..<text.count)
  }

  private mutating func array(_ text: Span<UInt8>, _ depth: Int) -> Piece? {
    let start = position
    var elements: [Piece] = []
    position += 1
    while true {
      while position < text.count, text[position] == UInt8(ascii: ",") || Self.isStray(text[position]) { position += 1 }
      guard position < text.count else { break }
      if text[position] == UInt8(ascii: "]") {
        position += 1
        return Piece(form: .array(elements), range: start..<position)
      }
      let begin = position
      guard let element = value(text, depth + 1) else { return nil }
      elements.append(element)
      // A byte that ends a word and begins nothing is passed over.
      if position == begin { position += 1 }
    }
    isCutOff = true
    return Piece(form: .array(elements), range: start..<text.count)
  }

  /// Goes behind the string at the position; false where the text is cut off in it.
  private mutating func skipString(_ text: Span<UInt8>) -> Bool {
    position += 1
    while position < text.count {
      if text[position] == UInt8(ascii: "\"") {
        position += 1
        return true
      }
      position += text[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    position = text.count
    isCutOff = true
    return false
  }

  /// Whether a value is followed by a legal byte: otherwise its end is unknown.
  private mutating func isFollowedWell(_ text: Span<UInt8>) -> Bool {
    skipStray(text)
    guard position < text.count else { return false }
    return text[position] == UInt8(ascii: ",") || text[position] == UInt8(ascii: "}")
  }

  private mutating func skipStray(_ text: Span<UInt8>) {
    while position < text.count, Self.isStray(text[position]) { position += 1 }
  }

  /// Whether a byte is a blank, a control character or not ASCII: between values it means nothing.
  private static func isStray(_ byte: UInt8) -> Bool { byte <= 0x20 || byte >= 0x7F }

  private static func endsWord(_ byte: UInt8) -> Bool {
    isStray(byte) || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
      || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[")
  }

  private mutating func isJSON(_ text: Span<UInt8>, _ range: Range<Int>) -> Bool {
    (try? tape.scan(text.extracting(range), limits: Self.limits)) != nil
  }

  /// A member's name; nil for one that breaks the grammar.
  private mutating func name(_ text: Span<UInt8>, _ range: Range<Int>) -> String? {
    guard isJSON(text, range) else { return nil }
    return tape.string(at: 0, in: text.extracting(range))
  }
}
