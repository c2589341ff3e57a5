/// One member of an object, as a schema describes it.
struct SchemaMember: Sendable, Equatable {
  /// Whether the member is there.
  enum Presence: Sendable, Equatable {
    /// Always.
    case required
    /// A writer always writes it; a reader does without.
    case written
    /// Not always.
    case optional
  }

  /// The name on the wire.
  var name: String
  /// What its values are like.
  var schema: JSONSchema
  /// Whether it is there.
  var presence: Presence
  /// One sentence on it.
  var description: String?
  /// What its absence means, as JSON text; nil where no value means the same.
  var standard: String?

  /// A member that is always there, of a type that describes itself by hand.
  static func required(_ name: String, _ schema: JSONSchema, _ description: String? = nil) -> SchemaMember {
    SchemaMember(name: name, schema: schema, presence: .required, description: description)
  }

  /// A member that is not always there, of a type that describes itself by hand.
  static func optional(_ name: String, _ schema: JSONSchema, _ description: String? = nil) -> SchemaMember {
    SchemaMember(name: name, schema: schema, presence: .optional, description: description)
  }
}
