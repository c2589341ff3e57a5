/// Reads the members of an object, each as it is asked for; unknown members are ignored.
@usableFromInline
struct ObjectReader: ObjectCoder {
  /// The object; where it is none, it has no members.
  @usableFromInline let node: JSONNode

  @inlinable
  init(_ node: JSONNode) { self.node = node }

  @inlinable
  mutating func required<Coding: ValueCoding>(
    _ name: String, _ value: inout Coding.Value, _ coding: Coding
  ) throws(JSONMismatch) {
    value = try coding.read(try node.required(name))
  }

  @inlinable
  mutating func optional<Coding: ValueCoding>(
    _ name: String, _ value: inout Coding.Value?, _ coding: Coding
  ) throws(JSONMismatch) {
    guard let member = node[name], !member.isNull else {
      value = nil
      return
    }
    value = try coding.read(member)
  }
}
