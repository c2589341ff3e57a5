/// The coding of one type's values: for types without a coding of their own, or with several.
public protocol ValueCoding<Value> {
  /// The type of the values.
  associatedtype Value

  /// Whether the values are secrets.
  static var isSecret: Bool { get }

  /// Appends exactly one value.
  func write(_ value: Value, to writer: inout JSONWriter)

  /// Reads one value.
  ///
  /// - Throws: ``JSONMismatch`` where it does not fit.
  func read(_ node: JSONNode) throws(JSONMismatch) -> Value
}

extension ValueCoding {
  /// False: the codings of secrets say so themselves.
  public static var isSecret: Bool { false }
}
