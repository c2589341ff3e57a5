/// One scanned text together with its structure.
public struct JSONDocument: Sendable {
  /// The text.
  let bytes: [UInt8]

  /// The structure of the text.
  let entries: [JSONTape.Entry]

  /// Scans a text of its own.
  ///
  /// - Throws: ``JSONError`` where the text is not one JSON value within the limits.
  public init(parsing bytes: [UInt8], limits: JSONLimits = .standard) throws(JSONError) {
    var tape = JSONTape()
    try tape.scan(bytes.span, limits: limits)
    self.init(bytes: bytes, entries: tape.takeEntries())
  }

  /// Views a text that `tape` was filled from.
  ///
  /// The bytes are shared, not copied: a message is read while its connection's buffer rests.
  public init(bytes: [UInt8], tape: JSONTape) {
    self.bytes = bytes
    self.entries = Array(copying: tape.entries.span)
  }

  /// The document of one object or array of a text that was scanned already: nothing is read twice.
  ///
  /// - Parameters:
  ///   - bytes: the text of that value alone.
  ///   - index: its place on the tape.
  ///   - tape: the structure of the whole text.
  public init(bytes: [UInt8], ofContainerAt index: Int, on tape: JSONTape) {
    self.bytes = bytes
    self.entries = tape.entries(ofValueAt: index)
  }

  /// The document of `{}`.
  public static let emptyObject = JSONDocument(
    bytes: Array("{}".utf8), entries: [JSONTape.Entry(kind: .object, start: 0, end: 2, next: 1)])

  private init(bytes: [UInt8], entries: [JSONTape.Entry]) {
    self.bytes = bytes
    self.entries = entries
  }

  /// The text's one value.
  public var root: JSONNode { node(at: 0) }

  /// The value at an index of the tape, which a caller found there.
  public func node(at index: Int) -> JSONNode { JSONNode(document: self, index: index) }

  /// The pointer to the value at an index of the tape: found on the way down to it, since only errors ask for it.
  func pointer(to index: Int) -> JSONPointer {
    var pointer = JSONPointer.root
    var place = 0
    while place != index {
      let isObject = entries[place].kind == .object
      // A member is its name and, behind that, its value.
      let step = isObject ? 1 : 0
      var child = place + 1
      var number = 0
      while Int(entries[child + step].next) <= index {
        child = Int(entries[child + step].next)
        number += 1
      }
      pointer = isObject ? pointer.member(name(at: child)) : pointer.element(number)
      place = child + step
    }
    return pointer
  }

  /// The name of a member, by the tape index of the name.
  func name(at index: Int) -> String {
    let entry = entries[index]
    guard entry.kind == .string else { return String(copying: JSONTape.unescaped(entry, in: bytes.span).span) }
    return String(copying: bytes.span.extracting(entry.range))
  }

  /// Whether the member name at a tape index is `name`, compared as bytes.
  func name(at index: Int, equals name: String) -> Bool {
    let entry = entries[index]
    let name = name.utf8
    guard entry.kind == .string else {
      return JSONTape.withUnescaped(entry, in: bytes.span) {
        $0.count == name.count && $0.hasSameBytes(as: name.span, at: 0)
      }
    }
    // Most names differ in their length.
    return entry.range.count == name.count && bytes.span.hasSameBytes(as: name.span, at: Int(entry.start))
  }
}
