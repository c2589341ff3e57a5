import JSON

/// The state that the sections of one file share: its text, the environment, and the mistakes found so far.
package final class ConfigurationContext {
  /// The converted text, which leads from a value back to its line; nil where only keys are collected.
  private let text: JSON5Text?
  /// The variables that `${NAME}` may refer to.
  private let environment: [String: String]
  /// The keys that each section knows, as far as it was read; collected of no file only.
  package private(set) var keys = KnownKeys()
  /// Checks a file of certificate authorities by its path, and returns the mistake.
  private let examine: (String) -> String?
  /// Finds the other sections in which a key can stand; asked only where a key is unknown.
  private let places: () -> KnownKeys
  /// The mistakes in the order in which they were found.
  private(set) var mistakes: [ConfigurationMistake] = []
  /// How many mistakes were found beyond those that are listed.
  private(set) var omittedCount = 0

  /// The context of a file.
  init(
    _ text: JSON5Text, environment: [String: String], examine: @escaping (String) -> String?,
    places: @escaping () -> KnownKeys
  ) {
    self.text = text
    self.environment = environment
    self.examine = examine
    self.places = places
  }

  /// The context of no file: everything has its default, and every key becomes known.
  package init() {
    text = nil
    environment = [:]
    examine = { _ in nil }
    places = { KnownKeys() }
  }

  /// A section that says nothing.
  package func blankSection(_ path: String) -> ConfigurationSection {
    ConfigurationSection(nil, path: path, pattern: path, context: self)
  }

  /// Whether there is no file, and sections are read only for their keys.
  package var collectsKeys: Bool { text == nil }

  /// Whether a mistake was found so far.
  package var hasMistakes: Bool { !mistakes.isEmpty }

  /// Notes that a section knows a key.
  ///
  /// A file of ten thousand profiles has the same keys again and again, whose names are not needed.
  func note(_ key: String, in section: String) {
    if collectsKeys { keys.add(key, in: section) }
  }

  /// The sections of the whole configuration that know a key.
  func sections(with key: String) -> [KnownKeys.Place] { places().places(of: key) }

  /// Checks a file of certificate authorities; returns the mistake, or nil where there is none or it is not to be
  /// examined.
  func objection(toAuthorityFile path: String) -> String? { examine(path) }

  /// Notes a mistake of a value.
  func report(at node: JSONNode, _ path: String, _ message: String, _ suggestion: String? = nil) {
    note(.value, path, message, suggestion) { $0.position(ofJSONByte: node.text.startIndex) }
  }

  /// Notes a key that cannot stand where it stands.
  func report(keyOf node: JSONNode, _ path: String, _ message: String, _ suggestion: String?) {
    note(.key, path, message, suggestion) { $0.position(ofKeyOfValueAt: node.text.startIndex) }
  }

  /// Notes a key that a section lacks; `node` is the section.
  func report(missing path: String, in node: JSONNode, _ message: String, _ suggestion: String?) {
    note(.key, path, message, suggestion) { $0.position(ofJSONByte: node.text.startIndex) }
  }

  private func note(
    _ subject: ConfigurationMistake.Subject, _ path: String, _ message: String, _ suggestion: String?,
    position: (JSON5Text) -> SourcePosition
  ) {
    guard let text else { return }
    guard mistakes.count < ConfigurationError.listLimit else {
      omittedCount += 1
      return
    }
    mistakes.append(
      ConfigurationMistake(
        position: position(text), path: path, subject: subject, message: message, suggestion: suggestion))
  }

  /// Replaces each `${NAME}` by the environment variable; `$${` stands for `${`.
  ///
  /// - Returns: nil for a variable that is not set, and for a name that is none; the mistake is noted. With `placeholders`
  ///   no variable is put in: these names stay, and others are mistakes.
  func expanded(
    _ value: String, at node: JSONNode, _ path: String, keeping placeholders: Set<String> = []
  ) -> String? {
    guard value.utf8.contains(UInt8(ascii: "$")) else { return value }
    var rest = Substring(value)
    var result = ""
    while let dollar = rest.firstIndex(of: "$") {
      result += rest[..<dollar]
      rest = rest[dollar...]
      if rest.hasPrefix("$${") {
        result += "${"
        rest = rest.dropFirst(3)
      } else if rest.hasPrefix("${") {
        let value =
          placeholders.isEmpty
          ? variable(&rest, at: node, path) : placeholder(&rest, of: placeholders, at: node, path)
        guard let value else { return nil }
        result += value
      } else {
        result += "$"
        rest = rest.dropFirst()
      }
    }
    return result + rest
  }

  private func placeholder(
    _ rest: inout Substring, of names: Set<String>, at node: JSONNode, _ path: String
  ) -> String? {
    guard let name = names.first(where: { rest.hasPrefix("${\($0)}") }) else {
      let known = names.sorted().map { "${\($0)}" }.joined(separator: " and ")
      report(at: node, path, "only \(known) are filled in here", "write $${ for the characters")
      return nil
    }
    rest = rest.dropFirst(name.count + 3)
    return "${\(name)}"
  }

  private func variable(_ rest: inout Substring, at node: JSONNode, _ path: String) -> String? {
    let name = rest.dropFirst(2).prefix { $0 != "}" }
    guard let first = name.first, first == "_" || first.isASCII && first.isLetter,
      name.allSatisfy({ $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }), name.endIndex < rest.endIndex
    else {
      report(
        at: node, path, "${ must begin the name of an environment variable and a }", "write $${ for the characters")
      return nil
    }
    guard let value = environment[String(name)] else {
      report(at: node, path, "the environment variable \(name) is not set")
      return nil
    }
    rest = rest[rest.index(after: name.endIndex)...]
    return value
  }
}
