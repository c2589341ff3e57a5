/// Inside ``JSONWriter/object(_:)`` a writer takes the members of a value.
///
/// It is no type of its own that holds a writer: text that may be a secret would be copied on the way into it.
extension JSONWriter: ObjectCoder {
  @inlinable
  public mutating func required<Coding: ValueCoding>(_ name: String, _ value: inout Coding.Value, _ coding: Coding) {
    key(name)
    coding.write(value, to: &self)
  }

  @inlinable
  public mutating func optional<Coding: ValueCoding>(_ name: String, _ value: inout Coding.Value?, _ coding: Coding) {
    guard let value else { return }
    key(name)
    coding.write(value, to: &self)
  }
}
