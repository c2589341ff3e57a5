public import JSON

/// Strings of bounded length.
public struct StringCoding: ValueCoding {
  /// In bytes of UTF-8.
  fileprivate let limit: Int

  public func write(_ value: String, to writer: inout JSONWriter) { writer.string(value) }

  public func read(_ node: JSONNode) throws(JSONMismatch) -> String { try node.string(atMost: limit) }
}

extension ValueCoding where Self == StringCoding {
  /// A string of at most so many bytes of UTF-8: see ``ParameterLength``.
  public static func text(atMost limit: Int) -> StringCoding { StringCoding(limit: limit) }
}
