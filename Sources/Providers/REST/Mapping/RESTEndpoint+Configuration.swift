import ConfigurationFile
import JSON
import ProviderKit

/// Reading an endpoint from a configuration.
extension RESTEndpoint {
  /// Longer names are none of a field.
  private static let longestName = 64
  /// The longest value of a header field that anybody needs here.
  private static let longestAccept = 256

  /// Reads the section; what is not said is as in the standard endpoint.
  init(_ name: Name, _ section: inout ConfigurationSection) {
    self = .standard(name)
    method = section.read(ChoiceSetting("method", standard: method))
    if method == .get, name != .currentUser {
      section.report("method", #"cannot be "GET": what is sent would stand in the URL, and be logged"#)
    }
    if let path = section.path("path") { self.path = path }
    let encoding = section.read(ChoiceSetting("encoding", standard: RESTMapping.Encoding.json))
    if section.has("encoding") { self.encoding = encoding }
    fields = Self.fields(name, &section)
    added = Self.added(&section)
    if method == .get, !added.isEmpty { section.report("add", #"cannot be sent with "GET""#) }
    let names = Array(fields.values) + added.keys
    if Set(names).count < names.count { section.report(section.has("add") ? "add" : "fields", "names something twice") }
    if let text = section.string("accept") {
      if (1...Self.longestAccept).contains(text.utf8.count), Self.isVisible(text) {
        accept = text
      } else {
        section.report("accept", #"must be kinds of content, such as "application/json""#)
      }
    }
    section.finish()
  }

  /// The backend's names; `null` is for a field that it does not want.
  private static func fields(_ name: Name, _ section: inout ConfigurationSection) -> [Field: String] {
    var fields = standard(name).fields
    var fieldsSection = section.section("fields")
    for field in name.fields {
      guard let node = fieldsSection.value(field.rawValue) else { continue }
      if node.isNull {
        fields[field] = nil
      } else if let text = try? node.string(), isName(text) {
        fields[field] = text
      } else {
        fieldsSection.report(field.rawValue, "must be the backend's name of the field, or null where it wants none")
      }
    }
    fieldsSection.finish()
    return fields
  }

  private static func added(_ section: inout ConfigurationSection) -> [String: Constant] {
    let addedSection = section.section("add")
    var constants: [String: Constant] = [:]
    for (name, node) in addedSection.namedMembers() {
      if isName(name), let constant = constant(node, name, addedSection) {
        constants[name] = constant
      } else if !addedSection.isFaulty(name) {
        addedSection.report(name, "must be a string, a whole number, true or false, under a short name")
      }
    }
    return constants
  }

  private static func constant(_ node: JSONNode, _ name: String, _ section: ConfigurationSection) -> Constant? {
    if (try? node.string()) != nil { return section.expandedString(name).map { .text($0) } }
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
