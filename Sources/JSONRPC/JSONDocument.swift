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

  /// The text's one value.
  public var root: JSONNode { JSONNode(document: self, index: 0, pointer: JSONPointer.root) }

  /// The value at an index of the tape, which a caller found there, under the pointer that errors shall name.
  public func node(at index: Int, pointer: JSONPointer = .root) -> JSONNode {
    JSONNode(document: self, index: index, pointer: pointer)
  }
}
