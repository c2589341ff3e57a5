import JSONRPC

/// One object of a configuration, read setting by setting.
///
/// Each reader notes its key, so that the keys which nobody asked for are known at the end.
struct ConfigurationSection {
  /// What this section shares with all others of its file.
  let context: ConfigurationContext
  private let node: JSONNode?
  private let path: String
  private var knownKeys: [String] = []

  /// The section at a node; nil for one that is absent, where everything has its default.
  ///
  /// - Throws: ``ConfigurationError`` where the node is no object.
  init(_ node: JSONNode?, path: String, context: ConfigurationContext) throws(ConfigurationError) {
    self.node = node
    self.path = path
    self.context = context
    guard let node, node.kind != .object else { return }
    throw context.failure(at: node, path.isEmpty ? "the configuration" : path, "must be an object")
  }

  /// The name of a setting of this section, as errors write it.
  func name(of key: String) -> String {
    path.isEmpty ? key : "\(path).\(key)"
  }

  /// The value at a key, which is known from now on.
  mutating func value(_ key: String) -> JSONNode? {
    knownKeys.append(key)
    return node?[key]
  }

  /// Makes a key known, at which nothing is said.
  mutating func note(_ key: String) { knownKeys.append(key) }

  /// Whether something is said at a key.
  func has(_ key: String) -> Bool { node?[key] != nil }

  /// The members of a section whose keys are names that the user chooses.
  func namedMembers() -> [(name: String, value: JSONNode)] {
    node.flatMap { node in try? node.members() } ?? []
  }

  /// A section in this one.
  mutating func section(_ key: String) throws(ConfigurationError) -> ConfigurationSection {
    try ConfigurationSection(value(key), path: name(of: key), context: context)
  }

  /// A whole number.
  mutating func read(_ setting: WholeNumberSetting) throws(ConfigurationError) -> Int {
    guard let node = value(setting.key) else { return setting.standard }
    guard let number = (try? node.integer()).flatMap(Int.init(exactly:)), setting.range.contains(number) else {
      let (low, high) = (setting.range.lowerBound, setting.range.upperBound)
      throw context.failure(at: node, name(of: setting.key), "must be a whole number from \(low) to \(high)")
    }
    return number
  }

  /// A duration.
  mutating func read(_ setting: DurationSetting) throws(ConfigurationError) -> Duration {
    guard let node = value(setting.key) else { return .seconds(setting.standard) }
    let (low, high) = (setting.range.lowerBound, setting.range.upperBound)
    guard let seconds = try? node.number(), seconds >= Double(low), seconds <= Double(high) else {
      throw context.failure(at: node, name(of: setting.key), "must be a number of seconds from \(low) to \(high)")
    }
    return .milliseconds(Int64((seconds * 1000).rounded()))
  }

  /// A switch.
  mutating func flag(_ key: String, standard: Bool) throws(ConfigurationError) -> Bool {
    guard let node = value(key) else { return standard }
    guard let flag = try? node.bool() else {
      throw context.failure(at: node, name(of: key), "must be true or false")
    }
    return flag
  }

  /// A text, its environment variables put in; nil where it is absent.
  mutating func text(_ key: String) throws(ConfigurationError) -> String? {
    guard let node = value(key) else { return nil }
    guard let text = try? node.string() else {
      throw context.failure(at: node, name(of: key), "must be a text in quotes")
    }
    return try context.expanded(text, at: node, name(of: key))
  }

  /// A list of texts, their environment variables put in; nil where it is absent.
  mutating func texts(_ key: String) throws(ConfigurationError) -> [String]? {
    guard let node = value(key) else { return nil }
    var texts: [String] = []
    for element in (try? node.elements()) ?? [] {
      guard let text = try? element.string() else {
        throw context.failure(at: element, name(of: key), "must be a list of texts in quotes")
      }
      texts.append(try context.expanded(text, at: element, name(of: key)))
    }
    guard node.kind == .array else {
      throw context.failure(at: node, name(of: key), "must be a list of texts in quotes")
    }
    return texts
  }

  /// One of a few words.
  mutating func read<Value>(_ setting: ChoiceSetting<Value>) throws(ConfigurationError) -> Value {
    guard let node = value(setting.key) else { return setting.standard }
    var expected = "must be \(setting.expected)"
    if let text = try? node.string() {
      let word = try context.expanded(text, at: node, name(of: setting.key))
      if let value = Value(rawValue: word) { return value }
      if setting.later.contains(word) { expected += "; \"\(word)\" is not available yet in this version" }
    }
    throw context.failure(at: node, name(of: setting.key), expected)
  }

  /// The failure of a setting of this section; where it is absent, the section's own place.
  func failure(_ key: String, _ problem: String) -> ConfigurationError {
    guard let section = node else { preconditionFailure("An absent section has nothing that could be wrong.") }
    if let value = section[key] { return context.failure(at: value, name(of: key), problem) }
    let says = problem.hasPrefix("must be ") && !problem.hasPrefix("must be given")
    let twin = namedMembers().first { $0.name.lowercased() == key.lowercased() }
    let hint = twin.map { "; \($0.name) is another key" } ?? ""
    return context.failure(at: section, name(of: key), (says ? "is missing: it " : "") + problem + hint)
  }

  /// The failure of a key that has no meaning here; nil where it is absent.
  func failure(ofKey key: String, _ problem: String) -> ConfigurationError? {
    node?[key].map { context.failure(atKeyOf: $0, name(of: key), problem) }
  }

  /// Refuses what nobody asked for: a misspelt key would otherwise be a setting that silently does not hold.
  ///
  /// - Throws: ``ConfigurationError`` at the first unknown key.
  func refuseUnknownKeys() throws(ConfigurationError) {
    for (key, value) in namedMembers() where !knownKeys.contains(key) {
      throw context.failure(
        atKeyOf: value, name(of: key), "is unknown; the keys here are \(knownKeys.joined(separator: ", "))",
        knownKeys: knownKeys)
    }
  }
}
