/// How the values of one type are written and read: for types that do not say so themselves, or not always the same.
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
