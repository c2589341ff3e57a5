/// What the members of an object are called.
public struct MemberList: ObjectCoder, Sendable {
  /// The names, in the order of the wire.
  public private(set) var names: [String] = []
  /// Whether the value of one of them is a secret; what lies in its own objects is not looked at.
  public private(set) var hasSecret = false

  public mutating func required<Coding: ValueCoding>(_ name: String, _: inout Coding.Value, _: Coding) {
    add(name, Coding.self)
  }

  public mutating func optional<Coding: ValueCoding>(_ name: String, _: inout Coding.Value?, _: Coding) {
    add(name, Coding.self)
  }

  private mutating func add<Coding: ValueCoding>(_ name: String, _: Coding.Type) {
    names.append(name)
    hasSecret = hasSecret || Coding.isSecret
  }
}
