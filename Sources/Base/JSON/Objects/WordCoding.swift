/// Names and handles: see ``JSONNode/word()``.
public struct WordCoding: ValueCoding {
  @inlinable
  public func write(_ value: String, to writer: inout JSONWriter) { writer.string(value) }

  @inlinable
  public func read(_ node: JSONNode) throws(JSONMismatch) -> String { try node.word() }
}

extension ValueCoding where Self == WordCoding {
  /// A name or a handle: printable ASCII, at most 256 bytes.
  public static var word: WordCoding { WordCoding() }
}

/// Words of a list that later versions may lengthen: one that does not stand in it is read as it is.
public struct OpenWordCoding: ValueCoding {
  /// The words of this version, for the description of the protocol.
  package let words: [String]

  public func write(_ value: String, to writer: inout JSONWriter) { writer.string(value) }

  public func read(_ node: JSONNode) throws(JSONMismatch) -> String { try node.word() }
}

extension ValueCoding where Self == OpenWordCoding {
  /// One of some words today, perhaps another one of a later version.
  public static func word(of words: [String]) -> OpenWordCoding { OpenWordCoding(words: words) }
}
