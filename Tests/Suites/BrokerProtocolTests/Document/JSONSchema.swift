/// What the values of a type are like: as much of JSON Schema (2020-12) as the protocol needs.
indirect enum JSONSchema: Sendable, Equatable {
  /// Any value.
  case any
  case null
  case boolean
  /// A string; the format and the pattern are those of JSON Schema.
  case string(format: String? = nil, pattern: String? = nil)
  case integer(minimum: Int? = nil)
  case number(minimum: Int? = nil, maximum: Int? = nil)
  /// True, never false.
  case onlyTrue
  /// Exactly this string.
  case word(String)
  /// One of these strings.
  case words([String])
  case list(of: JSONSchema)
  /// An object of any names.
  case map(of: JSONSchema)
  case object([SchemaMember])
  case oneOf([JSONSchema])
  /// A schema that stands under this name among the components of the document; elsewhere it is referred to.
  case named(String, JSONSchema)
  case described(String, JSONSchema)
  /// A schema some of whose optional members are there.
  case requiring([String], JSONSchema)

  /// A whole number that is never negative.
  static let count = JSONSchema.integer(minimum: 0)

  /// A string without a rule.
  static let text = JSONSchema.string()

  /// Adds every named schema that this one refers to, each once, in the order in which they are met.
  func collectNamed(into named: inout [(name: String, schema: JSONSchema)]) {
    switch self {
    case .named(let name, let schema):
      guard !named.contains(where: { $0.name == name }) else { return }
      named.append((name, schema))
      schema.collectNamed(into: &named)
    case .described(_, let schema), .requiring(_, let schema), .list(let schema), .map(let schema):
      schema.collectNamed(into: &named)
    case .oneOf(let schemas): for schema in schemas { schema.collectNamed(into: &named) }
    case .object(let members): for member in members { member.schema.collectNamed(into: &named) }
    default: break
    }
  }
}
