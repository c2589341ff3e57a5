/// One value of a scanned text.
public struct JSONNode: Sendable {
  /// The document that the value is part of; kept alive by each of its nodes.
  let document: JSONDocument
  /// The value's place among the entries of the document's tape.
  let index: Int

  /// The position of the value, for errors.
  public var pointer: JSONPointer { document.pointer(to: index) }

  private var entry: JSONTape.Entry { document.entries[index] }

  /// The kind of value.
  public var kind: JSONTape.Kind { entry.kind }

  /// Whether this is `null`.
  public var isNull: Bool { kind == .null }

  /// The bytes of the value as they stand in the text.
  public var text: ArraySlice<UInt8> {
    let range = entry.range
    switch kind {
    case .string, .escapedString: return document.bytes[range.lowerBound - 1..<range.upperBound + 1]
    default: return document.bytes[range]
    }
  }

  /// A mismatch at this value.
  public func mismatch(_ expected: String) -> JSONMismatch {
    JSONMismatch(at: pointer, expected: expected)
  }

  /// The value as a string.
  ///
  /// - Throws: ``JSONMismatch`` where it is none.
  public func string() throws(JSONMismatch) -> String {
    try withStringBytes { bytes in String(copying: bytes) }
  }

  /// Lends the bytes of a string value, without a copy where the text has no escape in it.
  ///
  /// - Throws: ``JSONMismatch`` where the value is no string.
  public func withStringBytes<Result>(_ body: (Span<UInt8>) -> Result) throws(JSONMismatch) -> Result {
    switch kind {
    case .string: return body(document.bytes.span.extracting(entry.range))
    case .escapedString: return JSONTape.withUnescaped(entry, in: document.bytes.span, body)
    default: throw mismatch("a string")
    }
  }

  /// The value as a 64-bit integer.
  ///
  /// `1.5e6` is one as well (JSON Schema, `integer`), up to what a binary64 counts to.
  ///
  /// - Throws: ``JSONMismatch`` where it is no whole number, or one that is too large.
  public func integer() throws(JSONMismatch) -> Int64 {
    if kind == .integer, let value = Int64(String(copying: document.bytes.span.extracting(entry.range))) {
      return value
    }
    guard kind == .number else { throw mismatch("a whole number") }
    let largest = Double(1 << 53)
    guard let value = JSONScanner.double(document.bytes.span, entry.range), value.magnitude <= largest else {
      throw mismatch("a whole number of at most \(1 << 53)")
    }
    guard value == value.rounded(.towardZero) else { throw mismatch("a whole number") }
    return Int64(value)
  }

  /// The value as a binary64.
  ///
  /// - Throws: ``JSONMismatch`` where it is no number.
  public func number() throws(JSONMismatch) -> Double {
    guard kind == .integer || kind == .number, let value = JSONScanner.double(document.bytes.span, entry.range) else {
      throw mismatch("a number")
    }
    return value
  }

  /// The value as a truth value.
  ///
  /// - Throws: ``JSONMismatch`` where it is neither `true` nor `false`.
  public func bool() throws(JSONMismatch) -> Bool {
    switch kind {
    case .true: return true
    case .false: return false
    default: throw mismatch("true or false")
    }
  }

  /// The elements of an array.
  ///
  /// - Throws: ``JSONMismatch`` where the value is no array.
  public func elements() throws(JSONMismatch) -> [JSONNode] {
    guard kind == .array else { throw mismatch("an array") }
    var nodes: [JSONNode] = []
    var child = index + 1
    while child < Int(entry.next) {
      nodes.append(document.node(at: child))
      child = Int(document.entries[child].next)
    }
    return nodes
  }

  /// The members of an object, in the order of the text.
  ///
  /// - Throws: ``JSONMismatch`` where the value is no object.
  public func members() throws(JSONMismatch) -> [(name: String, value: JSONNode)] {
    guard kind == .object else { throw mismatch("an object") }
    var nodes: [(name: String, value: JSONNode)] = []
    var child = index + 1
    while child < Int(entry.next) {
      nodes.append((document.name(at: child), document.node(at: child + 1)))
      child = Int(document.entries[child + 1].next)
    }
    return nodes
  }

  /// Whether each member of an object has one of these names, which are looked through in their order.
  public func hasOnlyMembers(named names: [String]) -> Bool {
    guard kind == .object else { return true }
    var child = index + 1
    while child < Int(entry.next) {
      guard names.contains(where: { document.name(at: child, equals: $0) }) else { return false }
      child = Int(document.entries[child + 1].next)
    }
    return true
  }

  /// Looks at the members of an object that have none of these names, until `body` says false: at the name as it stands
  /// in the text, of which no copy is made, and at its place among all members, counted from 1.
  public func forEachMember(besides names: [String], _ body: (_ name: Span<UInt8>, _ place: Int) -> Bool) {
    guard kind == .object else { return }
    var (child, place) = (index + 1, 1)
    while child < Int(entry.next) {
      if !names.contains(where: { document.name(at: child, equals: $0) }),
        !body(document.bytes.span.extracting(document.entries[child].range), place)
      {
        return
      }
      (child, place) = (Int(document.entries[child + 1].next), place + 1)
    }
  }

  /// The member of an object with this name; nil where there is none, or where the value is no object.
  public subscript(_ name: String) -> JSONNode? {
    guard kind == .object else { return nil }
    var child = index + 1
    while child < Int(entry.next) {
      if document.name(at: child, equals: name) { return document.node(at: child + 1) }
      child = Int(document.entries[child + 1].next)
    }
    return nil
  }
}

extension String {
  /// The string of bytes that are known to be UTF-8; anything else becomes U+FFFD.
  init(copying bytes: Span<UInt8>) {
    // The span is valid for the duration of the call, and the initialiser copies.
    self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
