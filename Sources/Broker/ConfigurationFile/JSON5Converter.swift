/// Goes over a JSON5 text once, token by token, and writes the JSON tokens that mean the same.
struct JSON5Converter {
  /// The JSON5 text.
  let source: [UInt8]
  /// The next byte of ``source`` to look at.
  var position = 0
  /// The JSON text as far as it is written.
  var output: [UInt8] = []
  /// The source position of each token of ``output``, in order.
  private(set) var tokens: [JSON5Text.Token] = []

  /// The containers that are open.
  private var open: [(isObject: Bool, place: Int)] = []
  /// The last token, as far as it matters for the next one.
  private var last = Last.nothing
  /// The position of a comma that is not written yet, since it may be a trailing one.
  private var pendingComma: Int?

  private enum Last {
    case nothing, opener, comma, key, colon, value
  }

  /// The usual bytes of a token: short keys, their colons and commas.
  ///
  /// It only sizes a reservation.
  private static let usualTokenBytes = 6

  /// A converter at the beginning of a text.
  init(_ source: [UInt8]) {
    self.source = source
    output.reserveCapacity(source.count)
    tokens.reserveCapacity(source.count / Self.usualTokenBytes)
  }

  /// Converts the whole text.
  ///
  /// - Throws: ``JSON5Error`` at the first byte that cannot be told apart into tokens.
  mutating func run() throws(JSON5Error) {
    while true {
      try skipBlanks()
      guard position < source.count else { break }
      try token()
    }
    if let unclosed = open.last {
      throw JSON5Error("this \(unclosed.isObject ? "{" : "[") is not closed", at: unclosed.place)
    }
    guard last == .value, pendingComma == nil else {
      throw JSON5Error("the file is empty", "write {} for the defaults", at: 0)
    }
  }

  private mutating func token() throws(JSON5Error) {
    let byte = source[position]
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      try requireRoom()
      guard !expectsKey else { throw JSON5Error("expected a key", at: position) }
      flushComma()
      open.append((byte == UInt8(ascii: "{"), position))
      punctuation(byte, .opener)
    case UInt8(ascii: "}"), UInt8(ascii: "]"): try close(byte)
    case UInt8(ascii: ","):
      guard last == .value, !open.isEmpty else { throw JSON5Error("unexpected comma", "remove it", at: position) }
      pendingComma = position
      position += 1
      last = .comma
    case UInt8(ascii: ":"):
      guard last == .key else { throw JSON5Error("unexpected colon", at: position) }
      punctuation(byte, .colon)
    default:
      try requireRoom()
      flushComma()
      begin(at: position)
      let isKey = expectsKey
      try scalar(byte, isKey: isKey)
      last = isKey ? .key : .value
    }
  }

  /// Whether the next token must be a member's name.
  private var expectsKey: Bool { open.last?.isObject == true && last != .colon }

  /// Refuses a token that would stand beside another one with nothing between them.
  private func requireRoom() throws(JSON5Error) {
    switch last {
    case .key: throw JSON5Error("expected a colon before this", at: position)
    case .value where open.isEmpty:
      throw JSON5Error("unexpected text after the configuration", "remove it", at: position)
    case .value: throw JSON5Error("expected a comma before this", at: position)
    default: break
    }
  }

  private mutating func close(_ byte: UInt8) throws(JSON5Error) {
    guard last != .key, last != .colon else { throw JSON5Error("expected a value before this", at: position) }
    guard let container = open.popLast(), container.isObject == (byte == UInt8(ascii: "}")) else {
      throw JSON5Error("this bracket closes none that is open", at: position)
    }
    pendingComma = nil
    punctuation(byte, .value)
  }

  private mutating func scalar(_ byte: UInt8, isKey: Bool) throws(JSON5Error) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): try string(quote: byte)
    case _ where Self.isIdentifierStart(byte): try identifier(isKey: isKey)
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
      guard !isKey else {
        throw JSON5Error("a key that begins with a digit or a sign must be quoted", at: position)
      }
      try number()
    case 0x80... where isKey && typographicSlip(at: position) == nil:
      throw JSON5Error("a key with other letters than a to z, A to Z, _ and $ must be quoted", at: position)
    default: throw unexpectedCharacter(at: position)
    }
  }

  private mutating func punctuation(_ byte: UInt8, _ kind: Last) {
    begin(at: position)
    output.append(byte)
    position += 1
    last = kind
  }

  private mutating func flushComma() {
    guard let comma = pendingComma else { return }
    pendingComma = nil
    begin(at: comma)
    output.append(UInt8(ascii: ","))
  }

  /// Notes that the next token of the output was written at `place`.
  private mutating func begin(at place: Int) {
    tokens.append(JSON5Text.Token(output: output.count, source: place))
  }

  /// Whether a key may begin with a byte without standing in quotes: an ASCII letter, `_` or `$`.
  static func isIdentifierStart(_ byte: UInt8) -> Bool {
    let letter = byte | 0x20
    return letter >= UInt8(ascii: "a") && letter <= UInt8(ascii: "z") || byte == UInt8(ascii: "_")
      || byte == UInt8(ascii: "$")
  }

  private mutating func identifier(isKey: Bool) throws(JSON5Error) {
    let start = position
    while position < source.count,
      Self.isIdentifierStart(source[position]) || (0x30...0x39).contains(source[position])
    {
      position += 1
    }
    if isKey {
      // What follows directly belongs to the name as its writer saw it.
      if position < source.count, source[position] >= 0x80 || [0x2D, 0x2E, 0x5C].contains(source[position]),
        blankLength(at: position) == 0
      {
        throw JSON5Error("a key with other letters than a to z, A to Z, _ and $ must be quoted", at: start)
      }
      output.append(UInt8(ascii: "\""))
      output += source[start..<position]
      output.append(UInt8(ascii: "\""))
      return
    }
    let word = String(decoding: source[start..<position], as: UTF8.self)
    switch word {
    case "true", "false", "null": output += source[start..<position]
    case "Infinity", "NaN": throw JSON5Error("\(word) is not allowed in a configuration", at: start)
    default: throw unquoted(word, at: start)
    }
  }
}
