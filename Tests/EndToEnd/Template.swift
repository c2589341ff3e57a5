import BrokerProtocol
import JSON

/// Compares messages with the templates of a conversation, and remembers what names were bound to.
struct Template {
  /// What names stand for.
  var bound: [String: String] = [:]

  /// Replaces `<$name>` in a text by what is bound to the name, escaped for a JSON string.
  func filled(_ text: String) -> String {
    bound.reduce(text) { text, binding in
      var writer = JSONWriter()
      writer.string(binding.value)
      let escaped = String(decoding: writer.bytes.dropFirst().dropLast(), as: UTF8.self)
      return text.replacing("<$\(binding.key)>", with: escaped)
    }
  }

  /// Binds what a message has for its user, and with a code `$wrongCode` to another one of the same length.
  mutating func bind(_ member: Conversation.MessageMember, to value: String) {
    bound[member.rawValue] = value
    guard member == .code else { return }
    bound["wrongCode"] = String(value.dropLast()) + (value.hasSuffix("0") ? "1" : "0")
  }

  /// Binds what a message says, if it matches.
  ///
  /// - Returns: where and why it does not match; nil if it does. Nothing is bound then.
  mutating func match(_ value: JSONNode, _ template: JSONNode) -> String? {
    var attempt = self
    let problem = attempt.compare(value, template)
    if problem == nil { self = attempt }
    return problem
  }

  private mutating func compare(_ value: JSONNode, _ template: JSONNode) -> String? {
    switch template.kind {
    case .string, .escapedString:
      guard let text = try? template.string() else { return "\(value.pointer): no string" }
      return compare(value, text)
    case .object: return compareObjects(value, template)
    case .array: return compareArrays(value, template)
    case .integer, .number:
      let isEqual = (try? value.number()).map { $0 == (try? template.number()) } ?? false
      return isEqual ? nil : mismatch(value, String(decoding: template.text, as: UTF8.self))
    default: return value.kind == template.kind ? nil : mismatch(value, String(decoding: template.text, as: UTF8.self))
    }
  }

  private mutating func compare(_ value: JSONNode, _ text: String) -> String? {
    switch text {
    case "<any>", "<optional>": return nil
    case "<number>": return (try? value.number()) == nil ? mismatch(value, text) : nil
    case "<time>": return (try? Timestamp(from: value)) == nil ? mismatch(value, text) : nil
    default: break
    }
    guard let actual = try? value.string() else { return mismatch(value, text) }
    if text == "<string>" { return nil }
    if text.hasPrefix("<$"), text.hasSuffix(">") {
      let name = String(text.dropFirst(2).dropLast())
      if let known = bound[name] { return known == actual ? nil : mismatch(value, "what \(name) was before") }
      bound[name] = actual
      return nil
    }
    if text.hasPrefix("<not $"), text.hasSuffix(">") {
      let name = String(text.dropFirst(6).dropLast())
      return bound[name] == actual || bound[name] == nil ? mismatch(value, text) : nil
    }
    return actual == text ? nil : mismatch(value, text)
  }

  private mutating func compareObjects(_ value: JSONNode, _ template: JSONNode) -> String? {
    guard let members = try? value.members(), let wanted = try? template.members() else {
      return mismatch(value, "an object")
    }
    for (name, template) in wanted where name != "<more>" {
      guard let member = value[name] else {
        if (try? template.string()) == "<optional>" { continue }
        return "\(value.pointer)/\(name) is missing"
      }
      if let problem = compare(member, template) { return problem }
    }
    guard template["<more>"] == nil else { return nil }
    let known = Set(wanted.map(\.name))
    return members.first { !known.contains($0.name) }.map { "\(value.pointer)/\($0.name) is not expected" }
  }

  private mutating func compareArrays(_ value: JSONNode, _ template: JSONNode) -> String? {
    guard let elements = try? value.elements(), let wanted = try? template.elements() else {
      return mismatch(value, "an array")
    }
    guard elements.count == wanted.count else { return mismatch(value, "\(wanted.count) elements") }
    for (element, template) in zip(elements, wanted) {
      if let problem = compare(element, template) { return problem }
    }
    return nil
  }

  private func mismatch(_ value: JSONNode, _ expected: String) -> String {
    "\(value.pointer) is \(String(decoding: value.text.prefix(200), as: UTF8.self)), not \(expected)"
  }
}
