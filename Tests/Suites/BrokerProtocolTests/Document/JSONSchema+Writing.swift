import JSON

extension JSONSchema: JSONEncodable {
  /// Writes the schema, with references to those that have a name.
  func encode(to writer: inout JSONWriter) { encode(to: &writer, standard: nil) }

  /// Writes the schema, with a sentence on the values, and with what absence means, as JSON text.
  func encode(to writer: inout JSONWriter, description: String? = nil, standard: String?) {
    writer.object { writer in
      writer.member(ifPresent: "description", description)
      encodeKeywords(to: &writer)
      guard let standard else { return }
      writer.key("default")
      writer.raw(Array(standard.utf8))
    }
  }

  private func encodeKeywords(to writer: inout JSONWriter) {
    switch self {
    case .any: break
    case .null: writer.member("type", "null")
    case .boolean: writer.member("type", "boolean")
    case .string(let format, let pattern):
      writer.member("type", "string")
      writer.member(ifPresent: "format", format)
      writer.member(ifPresent: "pattern", pattern)
    case .integer(let minimum):
      writer.member("type", "integer")
      writer.member(ifPresent: "minimum", minimum)
    case .number(let minimum, let maximum):
      writer.member("type", "number")
      writer.member(ifPresent: "minimum", minimum)
      writer.member(ifPresent: "maximum", maximum)
    case .onlyTrue: writer.member("const", true)
    case .word(let word): writer.member("const", word)
    case .words(let words): writer.member("enum", words)
    default: encodeCompound(to: &writer)
    }
  }

  private func encodeCompound(to writer: inout JSONWriter) {
    switch self {
    case .list(let element):
      writer.member("type", "array")
      writer.member("items", element)
    case .map(let value):
      writer.member("type", "object")
      writer.member("additionalProperties", value)
    case .object(let members): Self.encode(members, to: &writer)
    case .oneOf(let schemas): writer.member("oneOf", schemas)
    case .named(let name, _): writer.member("$ref", "#/components/schemas/\(name)")
    case .described(let description, let schema):
      writer.member("description", description)
      schema.encodeKeywords(to: &writer)
    case .requiring(let names, let schema):
      schema.encodeKeywords(to: &writer)
      writer.member("required", names)
    default: break
    }
  }

  private static func encode(_ members: [SchemaMember], to writer: inout JSONWriter) {
    writer.member("type", "object")
    let written = members.filter { $0.presence != .optional }.map { $0.name }
    if !written.isEmpty { writer.member("required", written) }
    writer.key("properties")
    writer.object { writer in
      for member in members {
        writer.key(member.name)
        let standard = member.presence == .optional ? member.standard : nil
        member.schema.encode(to: &writer, description: member.description, standard: standard)
      }
    }
  }
}
