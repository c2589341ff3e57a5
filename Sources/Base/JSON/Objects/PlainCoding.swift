/// Values of a type that writes and reads itself.
@usableFromInline
struct PlainCoding<Value: JSONEncodable & JSONDecodable>: ValueCoding {
  @inlinable
  init() {}

  @inlinable
  func write(_ value: Value, to writer: inout JSONWriter) { value.encode(to: &writer) }

  @inlinable
  func read(_ node: JSONNode) throws(JSONMismatch) -> Value { try Value(from: node) }
}
