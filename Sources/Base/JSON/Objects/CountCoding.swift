/// Whole numbers that are not negative.
public struct CountCoding: ValueCoding {
  @inlinable
  public func write(_ value: Int, to writer: inout JSONWriter) { writer.integer(Int64(value)) }

  @inlinable
  public func read(_ node: JSONNode) throws(JSONMismatch) -> Int {
    let number = try node.integer()
    guard number >= 0 else { throw node.mismatch("a whole number from 0 on") }
    return Int(number)
  }
}

extension ValueCoding where Self == CountCoding {
  /// A whole number that is not negative.
  public static var count: CountCoding { CountCoding() }
}
