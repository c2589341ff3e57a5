/// A type that writes itself as one JSON value.
public protocol JSONEncodable {
  /// Appends exactly one value.
  func encode(to writer: inout JSONWriter)
}

/// A type that reads itself from one JSON value.
public protocol JSONDecodable {
  /// Reads the value; members that it does not know are ignored.
  ///
  /// - Throws: ``JSONMismatch`` that points at the member that does not fit.
  init(from node: JSONNode) throws(JSONMismatch)
}

extension JSONNode {
  /// A member that must be there.
  ///
  /// - Throws: ``JSONMismatch`` where it is absent.
  public func required(_ name: String) throws(JSONMismatch) -> JSONNode {
    guard let node = self[name] else {
      throw JSONMismatch(at: pointer.member(name), expected: "present")
    }
    return node
  }

  /// A member that may be absent or `null`, read by `read`.
  ///
  /// - Throws: what `read` throws.
  @inlinable
  public func optional<Value>(
    _ name: String, _ read: (JSONNode) throws(JSONMismatch) -> Value
  ) throws(JSONMismatch) -> Value? {
    guard let node = self[name], !node.isNull else { return nil }
    return try read(node)
  }

  /// An array of values of one type.
  ///
  /// - Throws: ``JSONMismatch`` at the first element that does not fit.
  @inlinable
  public func list<Value>(of read: (JSONNode) throws(JSONMismatch) -> Value) throws(JSONMismatch) -> [Value] {
    var values: [Value] = []
    for element in try elements() { values.append(try read(element)) }
    return values
  }
}

extension String: JSONEncodable, JSONDecodable {
  /// Writes the string with the escapes that RFC 8259 asks for.
  public func encode(to writer: inout JSONWriter) { writer.string(self) }

  /// Reads a string value.
  public init(from node: JSONNode) throws(JSONMismatch) { self = try node.string() }
}

extension Bool: JSONEncodable, JSONDecodable {
  /// Writes `true` or `false`.
  public func encode(to writer: inout JSONWriter) { writer.bool(self) }

  /// Reads `true` or `false`.
  public init(from node: JSONNode) throws(JSONMismatch) { self = try node.bool() }
}

extension Int: JSONEncodable, JSONDecodable {
  /// Writes a whole number.
  public func encode(to writer: inout JSONWriter) { writer.integer(Int64(self)) }

  /// Reads a whole number.
  public init(from node: JSONNode) throws(JSONMismatch) { self = Int(try node.integer()) }
}

extension Array: JSONEncodable where Element: JSONEncodable {
  /// Writes an array of the elements.
  public func encode(to writer: inout JSONWriter) {
    writer.array { writer in
      for element in self { element.encode(to: &writer) }
    }
  }
}

extension Array: JSONDecodable where Element: JSONDecodable {
  /// Reads an array of values of one type.
  public init(from node: JSONNode) throws(JSONMismatch) {
    self = try node.list { element throws(JSONMismatch) in try Element(from: element) }
  }
}
