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
    self.init(bytes: bytes, tape: tape)
  }

  /// Views a text that `tape` was filled from.
  ///
  /// The arrays are shared, not copied: a message is read while its connection's buffer rests.
  public init(bytes: [UInt8], tape: JSONTape) {
    self.bytes = bytes
    self.entries = tape.entries
  }

  /// The text's one value.
  public var root: JSONNode { JSONNode(document: self, index: 0, pointer: JSONPointer.root) }

  /// The value at an index of the tape, which a caller found there, under the pointer that errors shall name.
  public func node(at index: Int, pointer: JSONPointer = .root) -> JSONNode {
    JSONNode(document: self, index: index, pointer: pointer)
  }
}
