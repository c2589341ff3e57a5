import JSONRPC
import RESTDialect

/// How an endpoint is written in a configuration.
extension RESTEndpoint {
  /// Longer names are none of a field.
  private static let longestName = 64
  /// The longest value of a header field that anybody needs here.
  private static let longestAccept = 256

  /// Reads the section; what is not said is as in the standard endpoint.
  ///
  /// - Throws: ``ConfigurationError`` at the first wrong value or unknown key.
  init(_ name: Name, _ section: inout ConfigurationSection) throws(ConfigurationError) {
    self = .standard(name)
    method = try section.read(ChoiceSetting("method", standard: method))
    guard method != .get || name == .currentUser else {
      throw section.failure("method", "cannot be \"GET\": what is sent would stand in the URL, and be logged")
    }
    if let text = try section.text("path") {
      guard ServerAddress.isPath(text) else {
        throw section.failure("path", "must begin with / and have no query: what is sent stands in the body")
      }
      path = text
    }
    if section.has("encoding") {
      encoding = try section.read(ChoiceSetting("encoding", standard: RESTMapping.Encoding.json))
    }
    fields = try Self.fields(name, &section)
    added = try Self.added(&section)
    guard method != .get || added.isEmpty else { throw section.failure("add", "cannot be sent with \"GET\"") }
    let names = Array(fields.values) + added.keys
    guard Set(names).count == names.count else {
      throw section.failure(section.has("add") ? "add" : "fields", "names something twice")
    }
    if let text = try section.text("accept") {
      guard (1...Self.longestAccept).contains(text.utf8.count), Self.isVisible(text) else {
        throw section.failure("accept", #"must be kinds of content, such as "application/json""#)
      }
      accept = text
    }
    try section.refuseUnknownKeys()
  }

  /// The backend's names; `null` is for a field that it does not want.
  private static func fields(
    _ name: Name, _ section: inout ConfigurationSection
  ) throws(ConfigurationError) -> [Field: String] {
    var fields = standard(name).fields
    var fieldsSection = try section.section("fields")
    for field in name.fields {
      guard let node = fieldsSection.value(field.rawValue) else { continue }
      guard !node.isNull else {
        fields[field] = nil
        continue
      }
      guard let text = try? node.string(), isName(text) else {
        throw fieldsSection.failure(field.rawValue, "must be the backend's name of it, or null where it wants none")
      }
      fields[field] = text
    }
    try fieldsSection.refuseUnknownKeys()
    return fields
  }

  private static func added(
    _ section: inout ConfigurationSection
  ) throws(ConfigurationError) -> [String: Constant] {
    let addedSection = try section.section("add")
    var constants: [String: Constant] = [:]
    for (name, node) in addedSection.namedMembers() {
      guard isName(name), let constant = try constant(node, addedSection.name(of: name), section.context) else {
        throw section.context.failure(
          at: node, addedSection.name(of: name), "must be a text, a whole number, true or false, under a short name")
      }
      constants[name] = constant
    }
    return constants
  }

  private static func constant(
    _ node: JSONNode, _ key: String, _ context: ConfigurationContext
  ) throws(ConfigurationError) -> Constant? {
    if let text = try? node.string() { return .text(try context.expanded(text, at: node, key)) }
    if let flag = try? node.bool() { return .flag(flag) }
    return (try? node.integer()).flatMap { Int(exactly: $0) }.map { .whole($0) }
  }

  private static func isName(_ text: String) -> Bool {
    (1...longestName).contains(text.utf8.count) && isVisible(text)
  }

  /// Visible ASCII, with spaces inside.
  private static func isVisible(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x20...0x7E).contains($0) } && text.first != " " && text.last != " "
  }
}
