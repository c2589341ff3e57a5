/// The names of an object's members.
public struct MemberList: ObjectCoder, Sendable {
  /// The names, in the order of the wire.
  public private(set) var names: [String] = []
  /// The names of members whose value is a secret; the members of nested objects are not examined.
  public private(set) var secretNames: [String] = []

  public mutating func required<Coding: ValueCoding>(_ name: String, _: inout Coding.Value, _: Coding) {
    add(name, Coding.self)
  }

  public mutating func optional<Coding: ValueCoding>(_ name: String, _: inout Coding.Value?, _: Coding) {
    add(name, Coding.self)
  }

  private mutating func add<Coding: ValueCoding>(_ name: String, _: Coding.Type) {
    names.append(name)
    if Coding.isSecret { secretNames.append(name) }
  }
}
