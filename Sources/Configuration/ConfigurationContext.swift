import JSONRPC

/// What every section needs to read its settings and to say where one is wrong.
struct ConfigurationContext: Sendable {
  /// The file's path, as errors name it.
  let file: String
  /// The converted text, which leads from a value back to its line.
  let text: JSON5Text
  /// What `${NAME}` is replaced from.
  let environment: [String: String]

  /// The failure of a value.
  func failure(at node: JSONNode, _ key: String, _ problem: String) -> ConfigurationError {
    ConfigurationError(
      file: file, position: text.position(ofJSONByte: node.text.startIndex), key: key, message: "\(key) \(problem)")
  }

  /// The failure of a member's name.
  func failure(
    atKeyOf node: JSONNode, _ key: String, _ problem: String, knownKeys: [String] = []
  ) -> ConfigurationError {
    ConfigurationError(
      file: file, position: text.position(ofKeyOfValueAt: node.text.startIndex), key: key,
      message: "\(key) \(problem)", knownKeys: knownKeys)
  }

  /// The failure of a text that the strict scanner refuses.
  func failure(_ error: JSONError) -> ConfigurationError {
    let key = text.path(toJSONByte: error.offset).joined(separator: ".")
    return ConfigurationError(
      file: file, position: text.position(ofJSONByte: error.offset), key: key,
      message: error.reason == .duplicateName ? "\(key) is given twice" : error.reason.rawValue)
  }

  /// Replaces each `${NAME}` by the environment variable; `$${` stands for `${`.
  ///
  /// - Throws: ``ConfigurationError`` for a variable that is not set, and for a name that is none.
  func expanded(_ value: String, at node: JSONNode, _ key: String) throws(ConfigurationError) -> String {
    var rest = Substring(value)
    var result = ""
    while let dollar = rest.firstIndex(of: "$") {
      result += rest[..<dollar]
      rest = rest[dollar...]
      if rest.hasPrefix("$${") {
        result += "${"
        rest = rest.dropFirst(3)
      } else if rest.hasPrefix("${") {
        result += try variable(&rest, at: node, key)
      } else {
        result += "$"
        rest = rest.dropFirst()
      }
    }
    return result + rest
  }

  private func variable(
    _ rest: inout Substring, at node: JSONNode, _ key: String
  ) throws(ConfigurationError) -> String {
    let name = rest.dropFirst(2).prefix { $0 != "}" }
    guard let first = name.first, first == "_" || first.isASCII && first.isLetter,
      name.allSatisfy({ $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }), name.endIndex < rest.endIndex
    else { throw failure(at: node, key, "has a ${ that no variable's name and } follow; write $${ for the characters") }
    guard let value = environment[String(name)] else {
      throw failure(at: node, key, "names the environment variable \(name), which is not set")
    }
    rest = rest[rest.index(after: name.endIndex)...]
    return value
  }
}
