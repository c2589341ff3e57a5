/// The grammar of RFC 8259, strictly: no byte order mark, no trailing comma, no duplicate name, no lone surrogate, no
/// number that 64 bits cannot hold. Parsers that disagree about such texts are a class of vulnerabilities of their own.
extension JSONTape {
  /// Scans one whole text and replaces the tape's contents by its structure.
  ///
  /// - Throws: ``JSONError`` with the first broken rule; the tape's contents are then meaningless.
  public mutating func scan(_ text: Span<UInt8>, limits: JSONLimits = .standard) throws(JSONError) {
    entries.removeAll(keepingCapacity: true)
    open.removeAll(keepingCapacity: true)
    self.limits = limits
    guard text.count <= limits.byteCount else { throw JSONError(.tooLong, at: limits.byteCount) }
    var position = 0
    try value(text, &position)
    while !open.isEmpty { try member(text, &position) }
    Self.skipBlanks(text, &position)
    guard position == text.count else { throw JSONError(.trailingData, at: position) }
  }

  /// Scans what may stand in an open container: a separator and one more value, or the container's end.
  private mutating func member(_ text: Span<UInt8>, _ position: inout Int) throws(JSONError) {
    let container = Int(open[open.count - 1].index)
    let isObject = entries[container].kind == .object
    let isFirst = container == entries.count - 1
    var byte = try Self.nextToken(text, &position)
    if byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
      position += 1
      let index = closeContainer(position)
      if isObject { try refuseDuplicateNames(of: index, in: text) }
      return
    }
    if !isFirst {
      guard byte == UInt8(ascii: ",") else { throw JSONError(.unexpectedByte, at: position) }
      position += 1
      byte = try Self.nextToken(text, &position)
    }
    guard open[open.count - 1].room > 0 else {
      throw JSONError(isObject ? .tooManyMembers : .tooManyElements, at: position)
    }
    open[open.count - 1].room -= 1
    if isObject {
      guard byte == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte, at: position) }
      try string(text, &position)
      guard try Self.nextToken(text, &position) == UInt8(ascii: ":") else {
        throw JSONError(.unexpectedByte, at: position)
      }
      position += 1
    }
    try value(text, &position)
  }

  /// Scans a leaf, or the opening of a container.
  private mutating func value(_ text: Span<UInt8>, _ position: inout Int) throws(JSONError) {
    let byte = try Self.nextToken(text, &position)
    guard entries.count < limits.values else { throw JSONError(.tooManyValues, at: position) }
    switch byte {
    case UInt8(ascii: "{"): try openContainer(.object, &position)
    case UInt8(ascii: "["): try openContainer(.array, &position)
    case UInt8(ascii: "\""): try string(text, &position)
    case UInt8(ascii: "t"): try literal("true", .true, text, &position)
    case UInt8(ascii: "f"): try literal("false", .false, text, &position)
    case UInt8(ascii: "n"): try literal("null", .null, text, &position)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number(text, &position)
    default: throw JSONError(.unexpectedByte, at: position)
    }
  }

  private mutating func openContainer(_ kind: Kind, _ position: inout Int) throws(JSONError) {
    guard open.count < limits.depth else { throw JSONError(.tooDeep, at: position) }
    appendContainer(kind, position)
    position += 1
  }

  private mutating func literal(
    _ word: StaticString, _ kind: Kind, _ text: Span<UInt8>, _ position: inout Int
  ) throws(JSONError) {
    let start = position
    for offset in 0..<word.utf8CodeUnitCount {
      guard position < text.count else { throw JSONError(.unexpectedEnd, at: position) }
      // A static string's storage lives for ever, and the offset stays inside its code units.
      let expected = unsafe word.utf8Start[offset]
      guard text[position] == expected else { throw JSONError(.unexpectedByte, at: position) }
      position += 1
    }
    appendLeaf(kind, start, position)
  }

  /// Skips white space and returns the byte behind it without consuming it.
  private static func nextToken(_ text: Span<UInt8>, _ position: inout Int) throws(JSONError) -> UInt8 {
    skipBlanks(text, &position)
    guard position < text.count else { throw JSONError(.unexpectedEnd, at: position) }
    return text[position]
  }

  private static func skipBlanks(_ text: Span<UInt8>, _ position: inout Int) {
    while position < text.count, isBlank(text[position]) { position += 1 }
  }

  /// Whether a byte is white space of RFC 8259, section 2.
  @inlinable
  package static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }
}
