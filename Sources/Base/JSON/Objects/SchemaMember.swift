/// One member of an object, as a schema describes it.
public struct SchemaMember: Sendable, Equatable {
  /// Whether the member is there.
  public enum Presence: Sendable, Equatable {
    /// Always.
    case required
    /// A writer always writes it; a reader does without.
    case written
    /// Not always.
    case optional
  }

  /// The name on the wire.
  public var name: String
  /// What its values are like.
  public var schema: JSONSchema
  /// Whether it is there.
  public var presence: Presence
  /// One sentence on it.
  public var description: String?
  /// What its absence means, as JSON text; nil where no value means the same.
  public var standard: String?

  /// A member that is always there, of a type that describes itself by hand.
  public static func required(_ name: String, _ schema: JSONSchema, _ description: String? = nil) -> SchemaMember {
    SchemaMember(name: name, schema: schema, presence: .required, description: description)
  }

  /// A member that is not always there, of a type that describes itself by hand.
  public static func optional(_ name: String, _ schema: JSONSchema, _ description: String? = nil) -> SchemaMember {
    SchemaMember(name: name, schema: schema, presence: .optional, description: description)
  }
}
