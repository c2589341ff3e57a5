/// Walks the members of an object in the order of the wire: a writer, a reader, or a collector of names or schemas.
///
/// A type names each of its members once, in ``ObjectCodable/code(_:)``, and every walk is made of that. The walks are
/// inlinable, so that the module of a type compiles them for it: they are then as fast as code written by hand. Where
/// another module reads or writes the type often, its `code` must be inlinable as well.
public protocol ObjectCoder {
  /// A member that is always there.
  ///
  /// - Throws: ``JSONMismatch`` where it is absent, or does not fit.
  mutating func required<Coding: ValueCoding>(
    _ name: String, _ value: inout Coding.Value, _ coding: Coding
  ) throws(JSONMismatch)

  /// A member that is there unless the value is nil; `null` is read as nil too.
  ///
  /// - Throws: ``JSONMismatch`` where it does not fit.
  mutating func optional<Coding: ValueCoding>(
    _ name: String, _ value: inout Coding.Value?, _ coding: Coding
  ) throws(JSONMismatch)

  /// A member that is always written; where it is absent or `null`, the value stays what it is in
  /// ``ObjectCodable/blank``.
  ///
  /// - Throws: ``JSONMismatch`` where it does not fit.
  mutating func defaulted<Coding: ValueCoding>(
    _ name: String, _ value: inout Coding.Value, _ coding: Coding
  ) throws(JSONMismatch)

  /// Codes a member that is left out where its value is the one that absence means.
  ///
  /// - Throws: ``JSONMismatch`` where it does not fit.
  mutating func optional<Coding: ValueCoding>(
    _ name: String, _ value: inout Coding.Value, _ coding: Coding, absent: Coding.Value
  ) throws(JSONMismatch) where Coding.Value: Equatable
}

/// The defaults of the last two; only a collector of schemas differs.
extension ObjectCoder {
  /// Codes an optional member that always has a value.
  @inlinable
  public mutating func defaulted<Coding: ValueCoding>(
    _ name: String, _ value: inout Coding.Value, _ coding: Coding
  ) throws(JSONMismatch) {
    var given: Coding.Value? = value
    try optional(name, &given, coding)
    if let given { value = given }
  }

  /// Codes an optional member whose value is nil where absence means the same.
  @inlinable
  public mutating func optional<Coding: ValueCoding>(
    _ name: String, _ value: inout Coding.Value, _ coding: Coding, absent: Coding.Value
  ) throws(JSONMismatch) where Coding.Value: Equatable {
    var given: Coding.Value? = value == absent ? nil : value
    try optional(name, &given, coding)
    value = given ?? absent
  }
}

/// Members whose type says itself how it is written.
extension ObjectCoder {
  /// As the function of this name that takes a coding.
  @inlinable
  public mutating func required<Value: JSONEncodable & JSONDecodable>(
    _ name: String, _ value: inout Value
  ) throws(JSONMismatch) {
    try required(name, &value, PlainCoding())
  }

  /// As the function of this name that takes a coding.
  @inlinable
  public mutating func optional<Value: JSONEncodable & JSONDecodable>(
    _ name: String, _ value: inout Value?
  ) throws(JSONMismatch) {
    try optional(name, &value, PlainCoding())
  }

  /// As the function of this name that takes a coding.
  @inlinable
  public mutating func defaulted<Value: JSONEncodable & JSONDecodable>(
    _ name: String, _ value: inout Value
  ) throws(JSONMismatch) {
    try defaulted(name, &value, PlainCoding())
  }

  /// As the function of this name that takes a coding.
  @inlinable
  public mutating func optional<Value: JSONEncodable & JSONDecodable & Equatable>(
    _ name: String, _ value: inout Value, absent: Value
  ) throws(JSONMismatch) {
    try optional(name, &value, PlainCoding(), absent: absent)
  }
}
