public import JSON

/// The fields of a message's header (RFC 9110, section 5), in their order; a name stands once.
public struct HeaderFields: JSONEncodable, JSONDecodable, Sendable, Equatable {
  /// One field.
  public struct Field: Sendable, Equatable {
    /// The name.
    public var name: String
    /// The value; of a field that was there several times, all of them joined by commas.
    public var value: String

    /// A field.
    public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
  }

  /// As many as the broker takes of an answer.
  private static let mostFields = 128

  /// The fields.
  public var fields: [Field]

  /// The fields of a header.
  public init(_ fields: [Field] = []) { self.fields = fields }

  /// The value of a field; nil where there is none.
  ///
  /// - Parameter name: upper and lower case are the same.
  public subscript(name: String) -> String? {
    fields.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// Writes an object of the values.
  public func encode(to writer: inout JSONWriter) {
    writer.object { writer in
      for field in fields { writer.member(field.name, field.value) }
    }
  }

  /// Reads an object of strings.
  public init(from node: JSONNode) throws(JSONMismatch) {
    fields = []
    for (name, value) in try node.members() { fields.append(Field(name, try value.string())) }
    guard fields.count <= Self.mostFields else { throw node.mismatch("an object of at most \(Self.mostFields) fields") }
  }
}
