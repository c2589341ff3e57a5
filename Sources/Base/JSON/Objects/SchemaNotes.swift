/// What a schema says of a type beyond what the walk over its members tells.
///
/// The texts stand here and not among the members, so that a walk that reads or writes never handles them.
public struct SchemaNotes: Sendable {
  /// What is said of one member.
  public struct Member: Sendable, ExpressibleByStringLiteral {
    /// One sentence.
    public var description: String?
    /// What its values are like, where the type that reads them takes more than is ever written.
    public var schema: JSONSchema?

    public init(_ description: String? = nil, _ schema: JSONSchema? = nil) {
      self.description = description
      self.schema = schema
    }

    /// A member of which one sentence is said.
    public init(stringLiteral description: String) { self.init(description) }
  }

  /// The type's name among the components of the document; nil for a schema that stands where it is used.
  public var name: String?
  /// One sentence on the type.
  public var description: String?
  /// What is said of its members, by their names on the wire.
  public var members: [String: Member]

  public init(_ name: String? = nil, _ description: String? = nil, members: [String: Member] = [:]) {
    self.name = name
    self.description = description
    self.members = members
  }
}
