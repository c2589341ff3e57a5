/// Values of an enumeration, each written as its name.
public struct NameCoding<Value: RawRepresentable<String> & CaseIterable>: ValueCoding {
  private let expected: String

  fileprivate init(_ expected: String) { self.expected = expected }

  public func write(_ value: Value, to writer: inout JSONWriter) { writer.string(value.rawValue) }

  public func read(_ node: JSONNode) throws(JSONMismatch) -> Value {
    guard let value = Value(rawValue: try node.string()) else { throw node.mismatch(expected) }
    return value
  }
}

extension ValueCoding {
  /// Codes values by their names; `expected` completes the message for any other name: "must be …".
  public static func name<Value>(_ expected: String) -> Self where Self == NameCoding<Value> { NameCoding(expected) }
}

extension Optional where Wrapped: RawRepresentable<String> {
  /// The name of a value, for a member in which a later version may have other names: one that is not known is nil.
  public var knownName: String? {
    get { self?.rawValue }
    set { self = newValue.flatMap(Wrapped.init(rawValue:)) }
  }
}
