/// Numbers that need not be whole.
public struct NumberCoding: ValueCoding {
  @inlinable
  public func write(_ value: Double, to writer: inout JSONWriter) { writer.number(value) }

  @inlinable
  public func read(_ node: JSONNode) throws(JSONMismatch) -> Double { try node.number() }
}

extension ValueCoding where Self == NumberCoding {
  /// A number that need not be whole.
  public static var number: NumberCoding { NumberCoding() }
}
