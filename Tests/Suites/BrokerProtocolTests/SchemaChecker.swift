import BrokerProtocol
import JSON

/// Checks values against the part of JSON Schema (2020-12) that the project's own schemas use.
///
/// It is closed: a member that the schema does not name is an error, unless `additionalProperties` allows it. A keyword
/// that it does not know is an error too, so that no schema says something that nobody checks.
struct SchemaChecker {
  /// The document that `$ref` points into.
  let root: JSONNode

  private static let annotations: Set = ["description", "default", "format", "summary", "title"]

  /// What is wrong with a value; empty where nothing is.
  func problems(of value: JSONNode, against schema: JSONNode) throws -> [String] {
    var problems: [String] = []
    for (keyword, rule) in try schema.members() where !Self.annotations.contains(keyword) {
      problems += try check(value, keyword, rule, schema)
    }
    return problems
  }

  private func check(_ value: JSONNode, _ keyword: String, _ rule: JSONNode, _ schema: JSONNode) throws -> [String] {
    let place = value.pointer.description
    switch keyword {
    case "$ref": return try problems(of: value, against: resolve(try rule.string()))
    case "type": return try value.hasType(rule.string()) ? [] : ["\(place) must have the type \(try rule.string())"]
    case "const": return value.isSame(as: rule) ? [] : ["\(place) must be the constant"]
    case "enum": return try rule.elements().contains { value.isSame(as: $0) } ? [] : ["\(place) is not in the enum"]
    // Both are for numbers alone (JSON Schema validation, section 6.2).
    case "minimum" where !value.hasType("number"), "maximum" where !value.hasType("number"): return []
    case "minimum": return try value.number() >= rule.number() ? [] : ["\(place) is too small"]
    case "maximum": return try value.number() <= rule.number() ? [] : ["\(place) is too large"]
    case "pattern": return ProfileName(try value.string()) != nil ? [] : ["\(place) does not match"]
    case "required":
      return try rule.elements().map { try $0.string() }.filter { value[$0] == nil }.map { "\(place)/\($0) is missing" }
    case "items": return try value.elements().flatMap { try problems(of: $0, against: rule) }
    case "properties": return try members(of: value, rule, others: schema["additionalProperties"])
    case "additionalProperties" where schema["properties"] != nil: return []
    case "additionalProperties": return try value.members().flatMap { try problems(of: $0.value, against: rule) }
    case "oneOf":
      let matches = try rule.elements().filter { try problems(of: value, against: $0).isEmpty }.count
      return matches == 1 ? [] : ["\(place) matches \(matches) of the alternatives"]
    default: return ["the keyword \(keyword) is not known"]
    }
  }

  private func members(of value: JSONNode, _ properties: JSONNode, others: JSONNode?) throws -> [String] {
    guard value.kind == .object else { return ["\(value.pointer) must be an object"] }
    return try value.members().flatMap { name, member in
      if let schema = properties[name] { return try problems(of: member, against: schema) }
      if let others, others.kind == .object { return try problems(of: member, against: others) }
      return others?.kind == .true ? [] : ["\(member.pointer) is not in the schema"]
    }
  }

  private func resolve(_ reference: String) throws -> JSONNode {
    var node = root
    for name in reference.dropFirst(2).split(separator: "/") { node = try node.required(String(name)) }
    return node
  }
}

extension JSONNode {
  fileprivate func hasType(_ type: String) -> Bool {
    switch type {
    case "object": kind == .object
    case "array": kind == .array
    case "string": kind == .string || kind == .escapedString
    case "integer": kind == .integer
    case "number": kind == .integer || kind == .number
    case "boolean": kind == .true || kind == .false
    case "null": kind == .null
    default: false
    }
  }

  /// Whether two values mean the same, whatever the order of their members.
  func isSame(as other: JSONNode) -> Bool {
    switch kind {
    case .object:
      guard let left = try? members(), let right = try? other.members(), left.count == right.count else { return false }
      return left.allSatisfy { name, value in other[name].map { value.isSame(as: $0) } ?? false }
    case .array:
      guard let left = try? elements(), let right = try? other.elements(), left.count == right.count else {
        return false
      }
      return zip(left, right).allSatisfy { $0.isSame(as: $1) }
    case .string, .escapedString: return (try? string()) == (try? other.string()) && other.hasType("string")
    case .integer, .number: return (try? number()) == (try? other.number()) && other.hasType("number")
    default: return kind == other.kind
    }
  }

  /// Whether every member of this value is in another one, and the same; for anything else, ``isSame(as:)``.
  func isPart(of other: JSONNode) -> Bool {
    guard kind == .object, let members = try? members() else { return isSame(as: other) }
    return members.allSatisfy { name, value in other[name].map { value.isPart(of: $0) } ?? false }
  }
}
