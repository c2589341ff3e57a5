import BrokerProtocol
package import JSON

/// One object of a configuration, read setting by setting.
///
/// A faulty setting is noted as a mistake and read as its default, so that one reading finds all of them. Each reader
/// notes its key; ``finish(aliases:)`` then finds the keys that nothing reads.
package struct ConfigurationSection {
  /// The state shared with all other sections of the file.
  package let context: ConfigurationContext
  /// The section as mistakes write it, as in `profiles.work.tls`; empty for the top.
  package let path: String
  /// The path with `NAME` for the name of a profile.
  private let pattern: String
  /// The object; nil for a section that is absent or of the wrong type, which has nothing more to say.
  private let node: JSONNode?
  private var knownKeys: [String] = []
  private var missing: [(key: String, suggestion: String?)] = []

  /// The section at a node; one that is no object is noted as a mistake and read as an absent one.
  ///
  /// - Parameters:
  ///   - node: nil for a section that is absent.
  ///   - path: the section as mistakes write it.
  ///   - pattern: the path with `NAME` for the name of a profile.
  ///   - context: what it shares with the others.
  init(_ node: JSONNode?, path: String, pattern: String, context: ConfigurationContext) {
    self.path = path
    self.pattern = pattern
    self.context = context
    self.node = node?.kind == .object ? node : nil
    guard let node, node.kind != .object else { return }
    let subject = path.isEmpty ? "the configuration " : ""
    context.report(at: node, path, "\(subject)must be an object, not \(node.kindInWords)")
  }

  /// The path of a setting of this section.
  package func path(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  /// The value at a key, which is known from now on.
  package mutating func value(_ key: String) -> JSONNode? {
    note(key)
    return node?[key]
  }

  /// Makes a key known without reading its value.
  package mutating func note(_ key: String) {
    // `finish` looks at the list only where there is an unknown key, and removes duplicates then.
    if node != nil { knownKeys.append(key) }
    context.note(key, in: pattern)
  }

  /// The value at a key, which does not become known.
  package func node(at key: String) -> JSONNode? { node?[key] }

  /// Whether something stands at a key, well-formed or not.
  package func has(_ key: String) -> Bool { node?[key] != nil }

  /// Whether a mistake was found in the value at a key: its consequences are no mistakes of their own.
  package func isFaulty(_ key: String) -> Bool {
    guard context.hasMistakes else { return false }
    let path = path(of: key)
    return context.mistakes.contains {
      $0.path == path || $0.path.hasPrefix(path + ".") || $0.path.hasPrefix(path + "[")
    }
  }

  /// The members of a section whose keys are names that the user chooses.
  package func namedMembers() -> [(name: String, value: JSONNode)] {
    node.flatMap { node in try? node.members() } ?? []
  }

  /// The members that are objects with a certain key.
  package func members(having key: String) -> [(name: String, value: JSONNode)] {
    namedMembers().filter { $0.value[key] != nil }
  }

  /// A section in this one.
  package mutating func section(_ key: String) -> ConfigurationSection {
    section(key, at: value(key))
  }

  /// The section at a value of this one, under a name that the user chose where `placeholder` stands for it.
  package func section(_ key: String, at node: JSONNode?, placeholder: String? = nil) -> ConfigurationSection {
    let name = placeholder ?? key
    let pattern = pattern.isEmpty ? name : "\(pattern).\(name)"
    return ConfigurationSection(node, path: path(of: key), pattern: pattern, context: context)
  }

  /// The sections of a list at a key, of so many entries at most; nil where it is absent or no such list.
  package mutating func sections(_ key: String, atMost limit: Int) -> [ConfigurationSection]? {
    guard let node = value(key) else { return nil }
    guard let elements = try? node.elements() else {
      report(key, "must be a list of objects, not \(node.kindInWords)")
      return nil
    }
    guard (1...limit).contains(elements.count) else {
      report(key, "has \(elements.count) entries", elements.isEmpty ? "leave it out" : "write at most \(limit)")
      return nil
    }
    return elements.enumerated().map { index, element in
      section("\(key)[\(index)]", at: element, placeholder: "\(key)[]")
    }
  }

  /// Whether it is an object without members.
  package var isEmpty: Bool { node != nil && namedMembers().isEmpty }

  // MARK: Mistakes

  /// Notes a mistake in the value at a key; where it is absent, at the section itself.
  package func report(_ key: String, _ message: String, _ suggestion: String? = nil) {
    guard let place = node?[key] ?? node else { return }
    context.report(at: place, path(of: key), message, suggestion)
  }

  /// Notes a name that the user chose and that cannot be one.
  package func report(nameOf value: JSONNode, _ name: String, _ problem: String, _ suggestion: String?) {
    context.report(keyOf: value, path(of: name), "\"\(name)\" \(problem)", suggestion)
  }

  /// Notes that a key must be there; it is no mistake of its own where another key was meant to be this one.
  package mutating func require(_ key: String, _ suggestion: @autoclosure () -> String? = nil) {
    note(key)
    guard node?[key] == nil else { return }
    missing.append((key, suggestion()))
  }

  /// Notes the keys that nothing has read, which would otherwise be settings without effect, and those that are missing.
  ///
  /// - Parameter aliases: what other programs call a key, and its name here.
  package func finish(aliases: [String: String] = [:]) {
    var meant: Set<String> = []
    for (key, value) in namedMembers() where !knownKeys.contains(key) {
      let correction = KeyCorrection(key, known: Self.unique(knownKeys), aliases: aliases, section: pattern, context)
      if let name = correction.name { meant.insert(name) }
      let given = correction.name.flatMap { has($0) ? "remove it, \"\($0)\" is given already" : nil }
      context.report(
        keyOf: value, path(of: key), "unknown key \"\(key)\"\(inWords)", given ?? correction.suggestion)
    }
    guard let node else { return }
    for (key, suggestion) in missing where !meant.contains(key) {
      context.report(missing: path(of: key), in: node, "missing key \"\(key)\"\(inWords)", suggestion)
    }
  }

  private static func unique(_ keys: [String]) -> [String] {
    keys.reduce(into: []) { unique, key in if !unique.contains(key) { unique.append(key) } }
  }

  private var inWords: String { path.isEmpty ? "" : " in \(path)" }
}
