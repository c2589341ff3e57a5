/// Names and handles: see ``JSONNode/word()``.
public struct WordCoding: ValueCoding {
  public var schema: JSONSchema { .text }

  @inlinable
  public func write(_ value: String, to writer: inout JSONWriter) { writer.string(value) }

  @inlinable
  public func read(_ node: JSONNode) throws(JSONMismatch) -> String { try node.word() }
}

extension ValueCoding where Self == WordCoding {
  /// A name or a handle: printable ASCII, at most 256 bytes.
  public static var word: WordCoding { WordCoding() }
}
