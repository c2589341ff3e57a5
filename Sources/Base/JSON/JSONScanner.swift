/// The grammar of RFC 8259, strictly.
///
/// No byte order mark, no trailing comma, no duplicate name, no lone surrogate, no number that 64 bits cannot hold:
/// parsers that disagree about such texts are a class of vulnerabilities of their own.
///
/// It goes through the text once, and holds nothing but where it stands: a container that is open keeps in its own entry
/// what is needed until it is closed.
struct JSONScanner {
  /// Stands for the container around the root.
  private static let none = Int(UInt32.max)

  /// The limits.
  let limits: JSONLimits
  /// The position of the next byte.
  var position = 0
  /// How many entries there are.
  private(set) var count = 0
  /// The index of the innermost open container among the entries.
  private var container = JSONScanner.none
  /// How many containers are open.
  private var depth = 0

  /// A scanner at the beginning of a text.
  init(_ limits: JSONLimits) {
    self.limits = limits
  }

  /// Goes on as long as there is room for entries, of which there must be some.
  ///
  /// - Returns: whether that was to the end of the text.
  mutating func scan(_ text: Span<UInt8>, into entries: inout MutableSpan<JSONTape.Entry>) throws(JSONError) -> Bool {
    if count == 0 { try value(text, &entries) }
    while container != Self.none {
      // A member has a name and a value.
      guard count + 2 <= entries.count else { return false }
      try member(text, &entries)
    }
    skipBlanks(text)
    guard position == text.count else { throw JSONError(.trailingData, at: position) }
    return true
  }

  /// Scans the next part of an open container: a separator and one more value, or the container's end.
  @inline(__always)
  private mutating func member(
    _ text: Span<UInt8>, _ entries: inout MutableSpan<JSONTape.Entry>
  ) throws(JSONError) {
    let isObject = entries[container].kind == .object
    var byte = try nextToken(text)
    if byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) { return try close(text, isObject, &entries) }
    if container != count - 1 {
      guard byte == UInt8(ascii: ",") else { throw JSONError(.unexpectedByte, at: position) }
      position += 1
      byte = try nextToken(text)
    }
    // An open container counts its members where its end will be noted.
    let members = Int(entries[container].end)
    guard members < (isObject ? limits.members : limits.elements) else {
      throw JSONError(isObject ? .tooManyMembers : .tooManyElements, at: position)
    }
    entries[container].end = UInt32(members + 1)
    if isObject {
      guard byte == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte, at: position) }
      try string(text, &entries)
      guard try nextToken(text) == UInt8(ascii: ":") else { throw JSONError(.unexpectedByte, at: position) }
      position += 1
    }
    try value(text, &entries)
  }

  /// Scans a leaf, or the opening of a container.
  @inline(__always)
  private mutating func value(
    _ text: Span<UInt8>, _ entries: inout MutableSpan<JSONTape.Entry>
  ) throws(JSONError) {
    let byte = try nextToken(text)
    guard count < limits.values else { throw JSONError(.tooManyValues, at: position) }
    switch byte {
    case UInt8(ascii: "\""): try string(text, &entries)
    case UInt8(ascii: "{"): try open(.object, &entries)
    case UInt8(ascii: "["): try open(.array, &entries)
    case UInt8(ascii: "t"): try literal("true", .true, text, &entries)
    case UInt8(ascii: "f"): try literal("false", .false, text, &entries)
    case UInt8(ascii: "n"): try literal("null", .null, text, &entries)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number(text, &entries)
    default: throw JSONError(.unexpectedByte, at: position)
    }
  }

  /// Opens a container: it notes the one around it where the entry behind it will be noted.
  private mutating func open(
    _ kind: JSONTape.Kind, _ entries: inout MutableSpan<JSONTape.Entry>
  ) throws(JSONError) {
    guard depth < limits.depth else { throw JSONError(.tooDeep, at: position) }
    entries[count] = JSONTape.Entry(kind: kind, start: UInt32(position), end: 0, next: UInt32(container))
    container = count
    count += 1
    depth += 1
    position += 1
  }

  private mutating func close(
    _ text: Span<UInt8>, _ isObject: Bool, _ entries: inout MutableSpan<JSONTape.Entry>
  ) throws(JSONError) {
    position += 1
    let index = container
    let members = Int(entries[index].end)
    container = Int(entries[index].next)
    entries[index].end = UInt32(position)
    entries[index].next = UInt32(count)
    depth -= 1
    if isObject, members > 1 { try Self.refuseDuplicateNames(of: index, members, entries.span, in: text) }
  }

  private mutating func literal(
    _ word: StaticString, _ kind: JSONTape.Kind, _ text: Span<UInt8>, _ entries: inout MutableSpan<JSONTape.Entry>
  ) throws(JSONError) {
    let start = position
    for offset in 0..<word.utf8CodeUnitCount {
      guard position < text.count else { throw JSONError(.unexpectedEnd, at: position) }
      // A static string's storage lives for ever, and the offset stays inside its code units.
      let expected = unsafe word.utf8Start[offset]
      guard text[position] == expected else { throw JSONError(.unexpectedByte, at: position) }
      position += 1
    }
    append(kind, start, position, &entries)
  }

  /// Appends a value that has no children.
  @inline(__always)
  mutating func append(
    _ kind: JSONTape.Kind, _ start: Int, _ end: Int, _ entries: inout MutableSpan<JSONTape.Entry>
  ) {
    let next = count + 1
    entries[count] = JSONTape.Entry(
      kind: kind, start: UInt32(truncatingIfNeeded: start), end: UInt32(truncatingIfNeeded: end),
      next: UInt32(truncatingIfNeeded: next))
    count = next
  }

  /// Skips white space and returns the byte behind it without consuming it.
  @inline(__always)
  private mutating func nextToken(_ text: Span<UInt8>) throws(JSONError) -> UInt8 {
    skipBlanks(text)
    guard position < text.count else { throw JSONError(.unexpectedEnd, at: position) }
    return text[position]
  }

  @inline(__always)
  private mutating func skipBlanks(_ text: Span<UInt8>) {
    while position < text.count, JSONTape.isBlank(text[position]) { position += 1 }
  }
}

extension JSONTape {
  /// Whether a byte is white space of RFC 8259, section 2.
  @inlinable
  package static func isBlank(_ byte: UInt8) -> Bool {
    byte <= 0x20 && (byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09)
  }
}
